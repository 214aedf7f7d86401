//! Accounts: theory's bounds on epsilon, by scheme.

use crate::numbers::{probability, rounded_down, rounded_up, significant};
use crate::request::{self, AccountRequest};
use crate::{Theory, Tone, Verdict, VerdictKind};
use misdeal_core::{Bounds, DeltaBounds, SchemeName, Setting, TradeOffBounds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What theory says about one or more schemes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    /// What was asked for; absent in older documents, and where no command did.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "request::if_known")]
    pub request: Option<AccountRequest>,
    /// Noise standard deviation divided by the clipping norm.
    pub noise_multiplier: f64,
    /// Steps in all epochs together.
    pub steps: u64,
    /// The probability with which a record is in a given batch.
    pub sampling_probability: f64,
    /// The shape of the run that schemes were accounted for with; absent for Poisson sampling by its probability.
    #[serde(flatten)]
    pub shape: Option<RunShape>,
    /// The delta at which epsilon is meant.
    pub delta: f64,
    /// The claim; what a library that assumes Poisson sampling would state, if none was given.
    pub claimed_epsilon: Option<f64>,
    /// Whether the claim was given.
    #[serde(default)]
    pub claim_is_given: bool,
    /// Bounds on epsilon, by scheme.
    pub schemes: Theory,
    /// The epsilon at which `deltas` are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// Bounds on delta at `epsilon`, by scheme.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deltas: BTreeMap<SchemeName, DeltaBounds>,
    /// Bounds on the whole trade-off curve, by scheme.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub trade_offs: BTreeMap<SchemeName, TradeOffBounds>,
    /// What other methods of the field say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<OtherMethod>,
}

/// Batches and epochs of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunShape {
    /// Batches in an epoch.
    pub steps_per_epoch: u64,
    /// Passes over the data.
    pub epochs: u64,
    /// Records in a batch.
    pub batch_size: u64,
    /// Records in the buffer, for the two schemes that have one, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_size: Option<u64>,
    /// Records in the training data, if they were stated; Poisson's rate is then batch_size / dataset_size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset_size: Option<u64>,
}

impl RunShape {
    /// Returns the shape of a setting's run.
    pub fn of(setting: &Setting, buffer_size: Option<u64>) -> Self {
        let &Setting { steps_per_epoch, epochs, batch_size, .. } = setting;
        RunShape { steps_per_epoch, epochs, batch_size, buffer_size, dataset_size: None }
    }

    /// Returns how many records fill no batch of an epoch; `None` if the data set's size is not known.
    pub fn unused_records(&self) -> Option<u64> {
        self.dataset_size.map(|records| records.saturating_sub(self.steps_per_epoch * self.batch_size))
    }
}

/// Another method of the field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherMethod {
    /// The scheme.
    pub scheme: SchemeName,
    /// What it is.
    pub method: String,
    /// A lower bound on epsilon, if it is one.
    pub epsilon_lower_bound: Option<f64>,
    /// An upper bound on epsilon, if it is one.
    pub epsilon_upper_bound: Option<f64>,
    /// The distance of the two Gaussians with the same epsilon and delta, where the method is that translation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gdp_mu: Option<f64>,
}

impl Account {
    /// Returns the verdict on the claim: for the only scheme, or for all schemes if they agree.
    pub fn verdict(&self) -> Verdict {
        let Some(claim) = self.claimed_epsilon else {
            let sentence = "Bounds by scheme; for Poisson sampling none is known here.";
            return Verdict::new(VerdictKind::NoClaim, Tone::Neutral, "Bounds", sentence);
        };
        let kinds: Vec<VerdictKind> = self.schemes.values().map(|bounds| kind(bounds, claim)).collect();
        let all_are = |wanted| !kinds.is_empty() && kinds.iter().all(|&kind| kind == wanted);
        let whose = if self.claim_is_given { "" } else { ", right for Poisson sampling," };
        if let [(scheme, bounds)] = self.schemes.iter().collect::<Vec<_>>()[..] {
            return self.of_scheme(*scheme, bounds, claim, whose);
        }
        let shown = significant(claim);
        if all_are(VerdictKind::Refuted) {
            let sentence =
                format!("The claim of epsilon {shown} is REFUTED: every scheme is proven to leak more.");
            return Verdict::new(VerdictKind::Refuted, Tone::Refuted, "Claim refuted", sentence);
        }
        if all_are(VerdictKind::Holds) {
            let sentence =
                format!("The claim of epsilon {shown} HOLDS: every scheme is proven to leak at most that.");
            return Verdict::new(VerdictKind::Holds, Tone::Open, "Claim holds", sentence);
        }
        let refuted = kinds.iter().filter(|&&kind| kind == VerdictKind::Refuted).count();
        let known = self.schemes.values().filter(|bounds| bounds.epsilon_lower_bound.is_some()).count();
        if refuted == 0 {
            let sentence = format!(
                "The claim of epsilon {shown} is contradicted for none of the {known} schemes with a known lower bound."
            );
            // Only an upper bound shows that a claim holds.
            let is_proven = |bounds: &Bounds| {
                bounds.epsilon_upper_bound.is_some_and(|upper| Some(upper) <= self.claimed_epsilon)
            };
            let all_hold = self.schemes.values().all(is_proven);
            let (tone, label) =
                if all_hold { (Tone::Open, "Claim holds") } else { (Tone::Neutral, "Consistent") };
            return Verdict::new(VerdictKind::Undecided, tone, label, sentence);
        }
        let sentence = format!(
            "For {refuted} of {known} schemes the claim of epsilon {shown}{whose} is proven to be too small."
        );
        Verdict::new(VerdictKind::Undecided, Tone::Doubt, "Depends on the batches", sentence)
    }

    fn of_scheme(&self, scheme: SchemeName, bounds: &Bounds, claim: f64, whose: &str) -> Verdict {
        let (shown, delta) = (significant(claim), probability(self.delta));
        match (kind(bounds, claim), bounds.sides()) {
            (VerdictKind::Refuted, [Some(lower), _]) => {
                let sentence = format!(
                    "The claim of epsilon {shown}{whose} is REFUTED: {scheme} is proven to leak at least {} at delta {delta}.",
                    rounded_down(lower)
                );
                Verdict::new(VerdictKind::Refuted, Tone::Refuted, "Claim refuted", sentence)
            }
            (VerdictKind::Holds, [_, Some(upper)]) => {
                // A claim that is the bound itself is not to look smaller than it.
                let shown = if claim == upper { rounded_up(claim) } else { shown };
                let sentence = format!(
                    "The claim of epsilon {shown} HOLDS: {scheme} is proven to leak at most {} at delta {delta}.",
                    rounded_up(upper)
                );
                Verdict::new(VerdictKind::Holds, Tone::Open, "Claim holds", sentence)
            }
            (_, sides) => {
                let [lower, upper] = sides;
                let lower = lower.map_or("no lower bound is known".into(), |lower| {
                    format!("at least {} is proven", rounded_down(lower))
                });
                let upper = upper.map_or("no upper bound is known".into(), |upper| {
                    format!("at most {}", rounded_up(upper))
                });
                let sentence = format!(
                    "The claim of epsilon {shown}{whose} is UNDECIDED for {scheme}: {lower}, and {upper}."
                );
                Verdict::new(VerdictKind::Undecided, Tone::Doubt, "Undecided", sentence)
            }
        }
    }
}

/// Returns the kind of verdict on a claim under one scheme's bounds.
fn kind(bounds: &Bounds, claim: f64) -> VerdictKind {
    match bounds.sides() {
        [Some(lower), _] if lower > claim => VerdictKind::Refuted,
        [_, Some(upper)] if upper <= claim => VerdictKind::Holds,
        _ => VerdictKind::Undecided,
    }
}
