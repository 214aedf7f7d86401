//! The errors at a threshold.

use crate::Side;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The errors at a threshold, if scores at or above it predict `In`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCounts {
    /// The number of scores `Out` at or above the threshold.
    pub false_positives: u64,
    /// The number of scores `In` below the threshold.
    pub false_negatives: u64,
    /// The number of scores `In`; `false_negatives` are counted among them.
    pub observations_in: u64,
    /// The number of scores `Out`; `false_positives` are counted among them.
    pub observations_out: u64,
}

impl ErrorCounts {
    /// These counts with one observed error count replaced by the count that a fixed rank implies.
    pub(crate) fn at_rank(&self, side: Side, rank: u64) -> Self {
        match side {
            Side::Upper => ErrorCounts { false_positives: rank - 1, ..*self },
            Side::Lower => ErrorCounts { false_negatives: rank - 1, ..*self },
            // All guesses beyond the correct ones count as wrong, including those that ties prevented.
            Side::Together => {
                let correct = self.observations_in - self.false_negatives;
                ErrorCounts { false_positives: rank.saturating_sub(correct), ..*self }
            }
        }
    }
}
