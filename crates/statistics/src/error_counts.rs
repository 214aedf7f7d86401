//! What a threshold gets wrong.

use crate::Side;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The errors of predicting `In` where a score reaches a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCounts {
    /// Scores `Out` at or above the threshold.
    pub false_positives: u64,
    /// Scores `In` below the threshold.
    pub false_negatives: u64,
    /// Scores `In` altogether: what `false_negatives` is a share of.
    pub observations_in: u64,
    /// Scores `Out` altogether: what `false_positives` is a share of.
    pub observations_out: u64,
}

impl ErrorCounts {
    /// With the errors that a rank fixed in advance stands for, in the place of those observed.
    pub(crate) fn at_rank(&self, side: Side, rank: u64) -> Self {
        match side {
            Side::Upper => ErrorCounts { false_positives: rank - 1, ..*self },
            Side::Lower => ErrorCounts { false_negatives: rank - 1, ..*self },
            // All guesses beyond the correct ones count as wrong, also those that ties prevented.
            Side::Together => {
                let correct = self.observations_in - self.false_negatives;
                ErrorCounts { false_positives: rank.saturating_sub(correct), ..*self }
            }
        }
    }
}
