//! What a threshold gets wrong.

use serde::Serialize;

/// The errors of predicting `In` where a score reaches a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
