//! Model cards beside what is proven of their training.

use crate::numbers::{count, probability, rounded_down, rounded_up, significant, times};
use crate::request::{self, CheckRequest};
use crate::{Audit, Tone, Verdict, VerdictKind};
use misdeal_core::{Bounds, ClosedSet, SchemeName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

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
    /// The training is proven to leak at least this much; without a scheme the smaller bound of shuffle and poisson.
    pub epsilon_lower_bound: Option<f64>,
    /// The training is proven to leak at most this much; without a scheme the larger bound of shuffle and poisson.
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
    /// The probability with which Poisson sampling has a record in a batch, where it is not batch_size / dataset_size.
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
    /// Full batches in an epoch.
    pub fn full_batches(&self) -> u64 {
        self.dataset_size / self.batch_size
    }

    /// Records that are in no batch, in each epoch.
    pub fn unused_records(&self) -> u64 {
        self.dataset_size.saturating_sub(self.steps_per_epoch * self.batch_size)
    }

    /// The probability with which Poisson sampling has a record in a batch.
    pub fn sampling_probability(&self) -> f64 {
        self.sampling_probability.unwrap_or(self.batch_size as f64 / self.dataset_size as f64)
    }

    /// The schemes as which the card is judged.
    pub fn judged_schemes(&self) -> Vec<SchemeName> {
        self.scheme.map_or(vec![SchemeName::Shuffle, SchemeName::Poisson], |scheme| vec![scheme])
    }
}

impl CheckedScheme {
    /// What follows for a claim if this scheme made the batches.
    fn kind(&self, claim: f64) -> VerdictKind {
        match self.bounds.sides() {
            [Some(lower), _] if lower > claim => VerdictKind::Refuted,
            [_, Some(upper)] if upper <= claim => VerdictKind::Holds,
            _ => VerdictKind::Undecided,
        }
    }
}

impl Checked {
    /// Whether a valid bound refutes the claim of any card.
    pub fn refutes_a_claim(&self) -> bool {
        self.cards.iter().any(|card| card.verdict().kind == VerdictKind::Refuted)
    }

    /// The verdict on the only card, or how many cards have which.
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
    /// What is proven of a scheme, if it was looked at.
    pub fn scheme(&self, scheme: SchemeName) -> Option<&CheckedScheme> {
        self.schemes.get(&scheme)
    }

    /// Whether the claim is too small even for Poisson sampling; `None` without a claim.
    pub fn refuted_under_poisson(&self) -> Option<bool> {
        let poisson = self.scheme(SchemeName::Poisson)?;
        self.claimed_epsilon.map(|claim| poisson.kind(claim) == VerdictKind::Refuted)
    }

    /// The audit's bound, where it is valid and above what theory proves of the scheme.
    fn audited_lower_bound(&self) -> Option<f64> {
        let audit = self.audit.as_ref()?;
        let found = *audit.estimate.empirical_epsilon;
        let is_news = self.setting.scheme.is_some() && audit.estimate.valid;
        (is_news && self.epsilon_lower_bound.is_none_or(|proven| found > proven)).then_some(found)
    }

    /// The largest valid lower bound, of theory or of the audit.
    pub fn largest_lower_bound(&self) -> Option<f64> {
        self.audited_lower_bound().or(self.epsilon_lower_bound)
    }

    /// How the batches are called in a sentence.
    fn batches(&self) -> String {
        self.setting.scheme.map_or("these batches".into(), batches)
    }

    /// What follows for the claim.
    pub fn verdict(&self) -> Verdict {
        let Some(claim) = self.claimed_epsilon else { return self.without_claim() };
        match self.setting.scheme {
            Some(scheme) => self.of_scheme(scheme, claim),
            None => self.of_unknown_scheme(claim),
        }
    }

    fn without_claim(&self) -> Verdict {
        let sentence = match (self.largest_lower_bound(), self.epsilon_upper_bound) {
            (None, None) => "Nothing is claimed, and no bound is known.".into(),
            (lower, upper) => {
                format!("Nothing is claimed. This training leaks {}.", between(lower, upper, self.delta))
            }
        };
        Verdict::new(VerdictKind::NoClaim, Tone::Neutral, "No claim", sentence)
    }

    fn of_scheme(&self, scheme: SchemeName, claim: f64) -> Verdict {
        let delta = probability(self.delta);
        let upper = self.epsilon_upper_bound;
        let batches = self.batches();
        if let Some(lower) = self.largest_lower_bound().filter(|&lower| lower > claim) {
            let how = match &self.audit {
                Some(audit) if self.audited_lower_bound().is_some() => {
                    let confidence = crate::numbers::confidence(audit.estimate.significance);
                    format!("an audit shows it with {confidence} confidence")
                }
                _ => "theory proves it".into(),
            };
            let also = match self
                .scheme(SchemeName::Poisson)
                .map(|poisson| (poisson.kind(claim), &poisson.bounds))
            {
                _ if scheme == SchemeName::Poisson => String::new(),
                Some((VerdictKind::Refuted, bounds)) => format!(
                    " The claim is false under Poisson sampling too: at least {}.",
                    rounded_down(bounds.epsilon_lower_bound.unwrap_or(0.0))
                ),
                Some((VerdictKind::Holds, _)) => " The claim would hold under Poisson sampling.".into(),
                _ => String::new(),
            };
            let sentence = format!(
                "The claim of epsilon {} is REFUTED: with {batches} this training leaks at least epsilon {} at delta {delta}, {} \
                 times the claim ({how}).{also}",
                significant(claim),
                rounded_down(lower),
                times(lower, claim)
            );
            return Verdict::new(VerdictKind::Refuted, Tone::Refuted, "Claim refuted", sentence);
        }
        if let Some(upper) = upper.filter(|&upper| upper <= claim) {
            // A claim that is the bound itself is not to look smaller than it.
            let claim = if claim == upper { rounded_up(claim) } else { significant(claim) };
            let sentence = format!(
                "The claim of epsilon {claim} HOLDS: with {batches} this training leaks at most epsilon {} at delta {delta} \
                 (theory proves it).",
                rounded_up(upper)
            );
            return Verdict::new(VerdictKind::Holds, Tone::Open, "Claim holds", sentence);
        }
        let sentence = format!(
            "The claim of epsilon {} is UNDECIDED: with {batches} this training leaks {}.",
            significant(claim),
            between(self.largest_lower_bound(), upper, self.delta)
        );
        Verdict::new(VerdictKind::Undecided, Tone::Doubt, "Undecided", sentence)
    }

    fn of_unknown_scheme(&self, claim: f64) -> Verdict {
        let judged = [SchemeName::Shuffle, SchemeName::Poisson].map(|name| {
            self.scheme(name).map_or((VerdictKind::Undecided, [None, None]), |scheme| {
                (scheme.kind(claim), scheme.bounds.sides())
            })
        });
        let [(shuffle, [lower, upper]), (poisson, [poisson_lower, poisson_upper])] = judged;
        let shown = significant(claim);
        let delta = probability(self.delta);
        match (shuffle, poisson) {
            (VerdictKind::Refuted, VerdictKind::Refuted) => {
                let sentence = format!(
                    "The claim of epsilon {shown} is REFUTED however the batches were made: at delta {delta} this training leaks \
                     at least epsilon {} with shuffled batches and {} with Poisson sampling (theory proves it).",
                    at_least(lower),
                    at_least(poisson_lower)
                );
                Verdict::new(VerdictKind::Refuted, Tone::Refuted, "Claim refuted", sentence)
            }
            (VerdictKind::Holds, VerdictKind::Holds) => {
                let sentence = format!(
                    "The claim of epsilon {shown} HOLDS: at delta {delta} this training leaks at most epsilon {}, with shuffled \
                     batches and with Poisson sampling (theory proves it).",
                    at_most(self.epsilon_upper_bound)
                );
                Verdict::new(VerdictKind::Holds, Tone::Open, "Claim holds", sentence)
            }
            _ => {
                let one = |kind, batches: &str, [lower, upper]: [Option<f64>; 2]| match kind {
                    VerdictKind::Refuted => {
                        format!("with {batches} it is refuted (at least {})", at_least(lower))
                    }
                    VerdictKind::Holds => format!("with {batches} it holds (at most {})", at_most(upper)),
                    _ => format!("with {batches} it is undecided ({})", range(lower, upper)),
                };
                let sentence = format!(
                    "The claim of epsilon {shown} is UNDECIDED: the card must state how batches were made (`scheme`). At delta \
                     {delta} {}; {}.",
                    one(shuffle, "shuffled batches", [lower, upper]),
                    one(poisson, "Poisson sampling", [poisson_lower, poisson_upper])
                );
                Verdict::new(VerdictKind::Undecided, Tone::Doubt, "Scheme not stated", sentence)
            }
        }
    }

    /// What to do now, in one or two sentences for somebody who decides.
    pub fn advice(&self) -> String {
        let Some(claim) = self.claimed_epsilon else {
            return match self.epsilon_upper_bound {
                Some(upper) => format!("State epsilon {}: no smaller number is proven.", rounded_up(upper)),
                None => "State no epsilon: none is proven for this training.".into(),
            };
        };
        let shown = significant(claim);
        let mut advice = match self.verdict().kind {
            VerdictKind::Refuted => {
                let lower = self.largest_lower_bound().map_or_else(String::new, rounded_down);
                format!("Do not publish epsilon {shown}: this training leaks at least {lower}.")
            }
            VerdictKind::Holds => {
                return format!("Epsilon {shown} can be published: it is proven for this training.");
            }
            _ if self.setting.scheme.is_none() => {
                return format!(
                    "Do not publish epsilon {shown} before the card states how batches were made."
                );
            }
            _ => format!("Do not publish epsilon {shown}: it is not proven for this training."),
        };
        if let Some((name, upper, _)) = self.remedy() {
            let _ =
                write!(advice, " With {} the same noise gives at most {}.", batches(name), rounded_up(upper));
        } else if let Some(upper) = self.epsilon_upper_bound {
            let _ = write!(advice, " What is proven is at most {}.", rounded_up(upper));
        }
        advice
    }

    /// The other scheme with the least proven epsilon at the same noise: its name, that bound, and the noise that keeps the claim.
    pub fn remedy(&self) -> Option<(SchemeName, f64, Option<f64>)> {
        let others = self.schemes.iter().filter(|&(&name, _)| Some(name) != self.setting.scheme);
        let bounded = others.filter_map(|(name, scheme)| {
            Some((*name, scheme.bounds.epsilon_upper_bound?, scheme.noise_multiplier_needed))
        });
        let best = bounded.min_by(|(_, a, _), (_, b, _)| a.total_cmp(b))?;
        self.epsilon_upper_bound.is_none_or(|upper| best.1 < upper).then_some(best)
    }

    /// The training in one line.
    pub fn training(&self) -> String {
        let setting = &self.setting;
        let scheme = match (setting.scheme, setting.buffer_size) {
            (None, _) => "batch scheme not stated".into(),
            (Some(scheme), None) => scheme.name().to_owned(),
            (Some(scheme), Some(size)) => format!("{} with a buffer of {}", scheme.name(), count(size)),
        };
        let passes = if setting.steps == setting.steps_per_epoch * setting.epochs {
            let plural = if setting.epochs == 1 { "" } else { "s" };
            format!("{} epoch{plural} of {} steps", count(setting.epochs), count(setting.steps_per_epoch))
        } else {
            format!("{} steps, {} an epoch", count(setting.steps), count(setting.steps_per_epoch))
        };
        format!(
            "{} records, batches of {}, {passes}, noise multiplier {}, {scheme}",
            count(setting.dataset_size),
            count(setting.batch_size),
            setting.noise_multiplier,
        )
    }
}

/// A scheme's batches in a sentence.
fn batches(scheme: SchemeName) -> String {
    match scheme {
        SchemeName::Poisson => "Poisson sampling".into(),
        SchemeName::Shuffle => "shuffled batches".into(),
        other => format!("{} batches", other.name()),
    }
}

fn at_least(lower: Option<f64>) -> String {
    lower.map_or("?".into(), rounded_down)
}

fn at_most(upper: Option<f64>) -> String {
    upper.map_or("?".into(), rounded_up)
}

/// Both sides in a few words.
fn range(lower: Option<f64>, upper: Option<f64>) -> String {
    match (lower, upper) {
        (Some(_), Some(_)) => format!("at least {}, at most {}", at_least(lower), at_most(upper)),
        (Some(_), None) => format!("at least {}, no upper bound known", at_least(lower)),
        (None, Some(_)) => format!("at most {}, no lower bound known", at_most(upper)),
        (None, None) => "no bound known".into(),
    }
}

/// Both sides in words that fit "leaks ...".
fn between(lower: Option<f64>, upper: Option<f64>, delta: f64) -> String {
    let delta = probability(delta);
    match (lower, upper) {
        (Some(lower), Some(upper)) => format!(
            "at least epsilon {} and at most {} at delta {delta}",
            rounded_down(lower),
            rounded_up(upper)
        ),
        (Some(lower), None) => format!("at least epsilon {} at delta {delta}", rounded_down(lower)),
        (None, Some(upper)) => format!("at most epsilon {} at delta {delta}", rounded_up(upper)),
        (None, None) => "an amount that no bound is known for".into(),
    }
}
