//! The noise that a target needs.

use crate::numbers::noise_multiplier;
use crate::request::{self, BoundSide, CalibrateRequest};
use crate::{Tone, Verdict, VerdictKind};
use misdeal_core::BatchScheme;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The noise for a target epsilon under a scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// What was asked for; absent in older documents, and where no command did.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "request::if_known")]
    pub request: Option<CalibrateRequest>,
    /// The noise, to 1e-6 relatively.
    pub noise_multiplier: f64,
    /// The bound on epsilon at that noise, at most the target.
    pub epsilon: f64,
    /// The epsilon to meet.
    pub target_epsilon: f64,
    /// The delta at which epsilon is meant.
    pub delta: f64,
    /// The scheme.
    #[serde(flatten)]
    pub scheme: BatchScheme,
    /// Batches in an epoch.
    pub steps_per_epoch: u64,
    /// Passes over the data.
    pub epochs: u64,
    /// Records in a batch.
    pub batch_size: u64,
    /// The side of the bound that meets the target.
    pub bound: BoundSide,
}

impl Calibration {
    /// Whether the noise is proven to be enough.
    pub fn is_enough(&self) -> bool {
        self.bound == BoundSide::Upper
    }

    /// The noise with seven decimals, rounded to the side on which what is said of it stays true.
    pub fn noise(&self) -> String {
        noise_multiplier(self.noise_multiplier, self.is_enough())
    }

    /// The lower and the upper bound on epsilon at that noise, of which one was asked for.
    pub fn sides(&self) -> [Option<f64>; 2] {
        if self.is_enough() { [None, Some(self.epsilon)] } else { [Some(self.epsilon), None] }
    }

    /// What follows for the target as a claim.
    pub fn verdict(&self) -> Verdict {
        let (noise, scheme, target) = (self.noise(), self.scheme, self.target_epsilon);
        if self.is_enough() {
            let sentence =
                format!("With a noise multiplier of {noise} {scheme} is proven to meet epsilon {target}.");
            return Verdict::new(VerdictKind::Holds, Tone::Open, "Enough noise", sentence);
        }
        let sentence = format!(
            "With less noise than {noise} {scheme} is known to miss epsilon {target}; this much may not be enough."
        );
        Verdict::new(VerdictKind::Undecided, Tone::Doubt, "A lower limit", sentence)
    }
}
