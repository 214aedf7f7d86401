//! A plan of batches that was written, and the epsilon that goes with it.
//!
//! It says nothing of what was drawn: sizes of batches, and of course the seed, are as secret as the plan.

use crate::request::{self, DealRequest};
use misdeal_core::{BoundMethod, SchemeName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

misdeal_core::closed_set! {
    "seed",
    /// Where the seed of a plan came from.
    pub enum SeedSource {
        /// From the operating system; nobody keeps it.
        System,
        /// From a file that only its owner can read.
        File,
        /// A number that was given. Privacy is void against whoever knows it.
        Number,
    }
}

/// A plan of batches that was written to a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DealtPlan {
    /// What was asked for, without the seed and the paths.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "request::if_known")]
    pub request: Option<DealRequest>,
    /// The scheme.
    pub scheme: SchemeName,
    /// Records in the training data.
    pub dataset_size: u64,
    /// Records in a batch on average. For balls-in-bins it is a little more if it does not divide the number of records.
    pub batch_size: u64,
    /// Batches in an epoch.
    pub steps_per_epoch: u64,
    /// Passes over the data.
    pub epochs: u64,
    /// The probability that a record is in a given batch.
    pub sampling_probability: f64,
    /// Where the seed came from.
    pub seed: SeedSource,
    /// Noise standard deviation divided by the clipping norm, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_multiplier: Option<f64>,
    /// The delta at which epsilon is meant, if the noise was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// Some pair of neighbouring data sets leaks at least this much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon_lower_bound: Option<f64>,
    /// No pair of neighbouring data sets leaks more than this, if the seed and the plan stay secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon_upper_bound: Option<f64>,
    /// How the two bounds were computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<BoundMethod>,
    /// The file.
    pub output: String,
    /// The file's size in bytes.
    pub bytes: u64,
    /// Time that it took.
    pub seconds: f64,
}

impl DealtPlan {
    /// What a reader must know to keep the promise.
    pub fn caution(&self) -> &'static str {
        match self.seed {
            SeedSource::System | SeedSource::File => {
                "Keep the plan as secret as the seed: whoever knows the batches sees the training as if nothing had been sampled."
            }
            SeedSource::Number => {
                "The seed is a number. Whoever knows or guesses it knows the batches, and then epsilon is that of a fixed order: use a \
                 fixed seed for tests alone."
            }
        }
    }
}
