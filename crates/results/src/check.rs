//! Checks: model cards beside the proven bounds of their training.

use crate::request::{self, CheckRequest};
use crate::{Audit, Tone, Verdict, VerdictKind};
use misdeal_core::{Bounds, SchemeName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Model cards, each with a verdict on its claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Checked {
    /// What was asked for; absent in older documents, and where no command did.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "request::if_known")]
    pub request: Option<CheckRequest>,
    /// The cards, in the order in which they were given.
    #[serde(serialize_with = "with_verdicts")]
    #[schemars(with = "Vec<JudgedCard<'static>>")]
    pub cards: Vec<CheckedCard>,
}

/// A model card beside what is proven of its training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedCard {
    /// The name on the card, or the name of its file.
    pub name: String,
    /// The training that the card states.
    pub setting: CardSetting,
    /// The delta at which epsilon is claimed.
    pub delta: f64,
    /// The claim; null if the card has none.
    pub claimed_epsilon: Option<f64>,
    /// The training is proven to leak at least this much. Without a scheme this is the smaller bound of shuffle and poisson.
    pub epsilon_lower_bound: Option<f64>,
    /// The training is proven to leak at most this much. Without a scheme this is the larger bound of shuffle and poisson.
    pub epsilon_upper_bound: Option<f64>,
    /// What is proven of the card's scheme and of those that could replace it.
    pub schemes: BTreeMap<SchemeName, CheckedScheme>,
    /// What was assumed where the card is silent, and what a reader should know of its numbers.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// An audit of the mechanism, where theory has no lower bound or one was asked for.
    #[serde(default)]
    pub audit: Option<Box<Audit>>,
}

/// The training that a card states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CardSetting {
    /// Records in the training data.
    pub dataset_size: u64,
    /// Records in a batch, on average where sizes are random.
    pub batch_size: u64,
    /// Batches in an epoch: dataset_size / batch_size, rounded down, unless a data loader says otherwise.
    pub steps_per_epoch: u64,
    /// Passes over the data, the last one perhaps not complete.
    pub epochs: u64,
    /// Steps in all epochs together.
    pub steps: u64,
    /// Noise standard deviation divided by the clipping norm.
    pub noise_multiplier: f64,
    /// How batches are made; null if the card does not say.
    pub scheme: Option<SchemeName>,
    /// Records in the buffer, for the schemes that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_size: Option<u64>,
    /// The sampling probability of Poisson sampling, if it differs from batch_size / dataset_size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling_probability: Option<f64>,
}

/// One scheme with the card's numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedScheme {
    /// What is proven of its epsilon.
    #[serde(flatten)]
    pub bounds: Bounds,
    /// The least noise for which it is proven to keep the claim; null without a claim, or if none is known.
    pub noise_multiplier_needed: Option<f64>,
}

/// A card as JSON has it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct JudgedCard<'a> {
    #[serde(flatten)]
    card: Cow<'a, CheckedCard>,
    /// What follows for the claim.
    verdict: Verdict,
    /// Whether the claim is too small even for Poisson sampling; null without a claim.
    refuted_under_poisson: Option<bool>,
}

pub(crate) fn with_verdicts<S: Serializer>(cards: &[CheckedCard], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(cards.iter().map(|card| JudgedCard {
        card: Cow::Borrowed(card),
        verdict: card.verdict(),
        refuted_under_poisson: card.refuted_under_poisson(),
    }))
}

impl CardSetting {
    /// Returns the number of full batches in an epoch.
    pub fn full_batches(&self) -> u64 {
        self.dataset_size / self.batch_size
    }

    /// Returns how many records are in no batch of an epoch.
    pub fn unused_records(&self) -> u64 {
        self.dataset_size.saturating_sub(self.steps_per_epoch * self.batch_size)
    }

    /// Returns the probability that Poisson sampling puts a given record into a batch.
    pub fn sampling_probability(&self) -> f64 {
        self.sampling_probability.unwrap_or(self.batch_size as f64 / self.dataset_size as f64)
    }

    /// Returns the schemes under which the card is judged.
    ///
    /// This is the card's scheme, or shuffle and Poisson if the card states none.
    pub fn judged_schemes(&self) -> Vec<SchemeName> {
        self.scheme.map_or(vec![SchemeName::Shuffle, SchemeName::Poisson], |scheme| vec![scheme])
    }
}

impl CheckedScheme {
    /// Returns the kind of verdict on a claim if this scheme made the batches.
    pub(crate) fn kind(&self, claim: f64) -> VerdictKind {
        match self.bounds.sides() {
            [Some(lower), _] if lower > claim => VerdictKind::Refuted,
            [_, Some(upper)] if upper <= claim => VerdictKind::Holds,
            _ => VerdictKind::Undecided,
        }
    }
}

impl Checked {
    /// Whether a valid bound refutes the claim of at least one card.
    pub fn refutes_a_claim(&self) -> bool {
        self.cards.iter().any(|card| card.verdict().kind == VerdictKind::Refuted)
    }

    /// Returns the verdict on the only card, or a count of verdicts if there are several cards.
    pub fn verdict(&self) -> Verdict {
        if let [card] = self.cards.as_slice() {
            return card.verdict();
        }
        let kinds: Vec<VerdictKind> = self.cards.iter().map(|card| card.verdict().kind).collect();
        let number = |kind| kinds.iter().filter(|&&found| found == kind).count();
        let [refuted, holds, undecided] =
            [VerdictKind::Refuted, VerdictKind::Holds, VerdictKind::Undecided].map(number);
        let (kind, tone, label) = match (refuted, undecided) {
            (1.., _) => (VerdictKind::Refuted, Tone::Refuted, "Claims refuted"),
            (_, 1..) => (VerdictKind::Undecided, Tone::Doubt, "Not all proven"),
            _ if holds > 0 => (VerdictKind::Holds, Tone::Open, "Claims hold"),
            _ => (VerdictKind::NoClaim, Tone::Neutral, "No claims"),
        };
        let sentence = format!(
            "Of {} cards the claims of {refuted} are refuted, of {holds} proven and of {undecided} undecided.",
            self.cards.len()
        );
        Verdict::new(kind, tone, label, sentence)
    }
}

impl CheckedCard {
    /// Returns the proven bounds of a scheme, if the check covers it.
    pub fn scheme(&self, scheme: SchemeName) -> Option<&CheckedScheme> {
        self.schemes.get(&scheme)
    }

    /// Whether the claim is too small even for Poisson sampling; `None` without a claim.
    pub fn refuted_under_poisson(&self) -> Option<bool> {
        let poisson = self.scheme(SchemeName::Poisson)?;
        self.claimed_epsilon.map(|claim| poisson.kind(claim) == VerdictKind::Refuted)
    }

    /// Returns the audit's bound, if it is valid and above theory's lower bound.
    ///
    /// Returns `None` if the card states no scheme.
    pub(crate) fn audited_lower_bound(&self) -> Option<f64> {
        let audit = self.audit.as_ref()?;
        let found = *audit.estimate.empirical_epsilon;
        let is_news = self.setting.scheme.is_some() && audit.estimate.valid;
        (is_news && self.epsilon_lower_bound.is_none_or(|proven| found > proven)).then_some(found)
    }

    /// Returns the largest valid lower bound, from theory or from the audit.
    pub fn largest_lower_bound(&self) -> Option<f64> {
        self.audited_lower_bound().or(self.epsilon_lower_bound)
    }
}
