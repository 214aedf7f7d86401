//! Calibrations: the noise that a target epsilon needs.

use crate::numbers::{noise_multiplier, significant};
use crate::request::{self, BoundSide, CalibrateRequest};
use crate::{Tone, Verdict, VerdictKind};
use misdeal_core::{BatchScheme, ClosedSet, SchemeName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// Records in the training data, if they were stated; Poisson's rate is then batch_size / dataset_size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset_size: Option<u64>,
    /// The side of the bound that meets the target.
    pub bound: BoundSide,
}

/// The noise for a target epsilon, scheme by scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibrations {
    /// What was asked for; absent in older documents, and where no command did.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "request::if_known")]
    pub request: Option<CalibrateRequest>,
    /// The epsilon to meet.
    pub target_epsilon: f64,
    /// The delta at which epsilon is meant.
    pub delta: f64,
    /// Batches in an epoch.
    pub steps_per_epoch: u64,
    /// Passes over the data.
    pub epochs: u64,
    /// Records in a batch.
    pub batch_size: u64,
    /// Records in the training data, if they were stated; Poisson's rate is then batch_size / dataset_size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset_size: Option<u64>,
    /// Records in the buffer, for the two schemes that have one, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_size: Option<u64>,
    /// The side of the bound that meets the target.
    pub bound: BoundSide,
    /// The noise that each scheme needs.
    pub schemes: BTreeMap<SchemeName, CalibratedScheme>,
}

/// The noise that one scheme needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalibratedScheme {
    /// The noise; null if none is known.
    pub noise_multiplier: Option<f64>,
    /// The bound on epsilon at that noise, at most the target.
    pub epsilon: Option<f64>,
    /// Why no noise is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What follows for the target as a claim.
    #[serde(default, skip_deserializing)]
    pub verdict: Verdict,
}

impl CalibratedScheme {
    /// Creates the entry of a scheme whose noise was found.
    pub fn found(calibration: &Calibration) -> Self {
        CalibratedScheme {
            noise_multiplier: Some(calibration.noise_multiplier),
            epsilon: Some(calibration.epsilon),
            reason: None,
            verdict: calibration.verdict(),
        }
    }

    /// Creates the entry of a scheme for which no noise is known; `reason` says why.
    pub fn unknown(scheme: SchemeName, reason: String) -> Self {
        let sentence = format!("For {scheme} no noise is known: {reason}.");
        let verdict = Verdict::new(VerdictKind::Undecided, Tone::Doubt, "No noise known", sentence);
        CalibratedScheme { noise_multiplier: None, epsilon: None, reason: Some(reason), verdict }
    }
}

impl Calibrations {
    /// Returns the calibration of each scheme whose noise is known.
    pub fn each(&self) -> Vec<Calibration> {
        let one = |(name, scheme): (&SchemeName, &CalibratedScheme)| {
            let buffer_size = self.buffer_size.filter(|_| BatchScheme::has_buffer(name.name()));
            Some(Calibration {
                request: None,
                noise_multiplier: scheme.noise_multiplier?,
                epsilon: scheme.epsilon?,
                target_epsilon: self.target_epsilon,
                delta: self.delta,
                scheme: BatchScheme::from_name(name.name(), buffer_size).ok()?,
                steps_per_epoch: self.steps_per_epoch,
                epochs: self.epochs,
                batch_size: self.batch_size,
                dataset_size: self.dataset_size,
                bound: self.bound,
            })
        };
        self.schemes.iter().filter_map(one).collect()
    }

    /// Returns a verdict that names the schemes with the least and the most noise.
    pub fn verdict(&self) -> Verdict {
        let target = self.target_epsilon;
        let each = self.each();
        let ends = [
            each.iter().min_by(|a, b| a.noise_multiplier.total_cmp(&b.noise_multiplier)),
            each.iter().max_by(|a, b| a.noise_multiplier.total_cmp(&b.noise_multiplier)),
        ];
        let [Some(least), Some(most)] = ends else {
            let sentence = format!("No noise is known that meets epsilon {target}.");
            return Verdict::new(VerdictKind::Undecided, Tone::Doubt, "No noise known", sentence);
        };
        let sentence = format!(
            "The noise multiplier for epsilon {target} depends on the batches: from {} with {} to {} with {}.",
            significant(least.noise_multiplier),
            least.scheme,
            significant(most.noise_multiplier),
            most.scheme
        );
        Verdict::new(VerdictKind::NoClaim, Tone::Neutral, "Depends on the batches", sentence)
    }
}

impl Calibration {
    /// Whether the noise is proven to be enough.
    pub fn is_enough(&self) -> bool {
        self.bound == BoundSide::Upper
    }

    /// Formats the noise with seven decimals.
    ///
    /// The noise is rounded up if it is proven to be enough, and else down.
    pub fn noise(&self) -> String {
        noise_multiplier(self.noise_multiplier, self.is_enough())
    }

    /// Returns the lower and the upper bound on epsilon at this noise.
    ///
    /// Only the requested bound is known; the other is `None`.
    pub fn sides(&self) -> [Option<f64>; 2] {
        if self.is_enough() { [None, Some(self.epsilon)] } else { [Some(self.epsilon), None] }
    }

    /// Returns the verdict on the target epsilon as a claim.
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
