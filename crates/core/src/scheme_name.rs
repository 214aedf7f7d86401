//! Names of batch schemes, without their parameters.

use crate::{BatchScheme, ClosedSet};
use std::cmp::Ordering;

crate::closed_set! {
    "scheme",
    /// How batches are made, without the size of a buffer.
    pub enum SchemeName {
        /// Every record joins every batch independently.
        Poisson,
        /// A fresh permutation in each epoch, cut into batches.
        Shuffle,
        /// One permutation for all epochs, cut into batches.
        ShuffleOnce,
        /// Blocks of consecutive records, each permuted, then cut into batches.
        PartialShuffle,
        /// A sliding buffer.
        StreamShuffle,
        /// Batches of consecutive records, in random order.
        BatchThenShuffle,
        /// Every record joins one batch of each epoch, chosen independently of the others.
        BallsInBins,
        /// Every batch is a fresh subset of fixed size.
        WithoutReplacement,
        /// File order, no randomness.
        FixedOrder,
    }
}

impl From<BatchScheme> for SchemeName {
    fn from(scheme: BatchScheme) -> Self {
        match scheme {
            BatchScheme::Poisson => Self::Poisson,
            BatchScheme::Shuffle => Self::Shuffle,
            BatchScheme::ShuffleOnce => Self::ShuffleOnce,
            BatchScheme::PartialShuffle { .. } => Self::PartialShuffle,
            BatchScheme::StreamShuffle { .. } => Self::StreamShuffle,
            BatchScheme::BatchThenShuffle => Self::BatchThenShuffle,
            BatchScheme::BallsInBins => Self::BallsInBins,
            BatchScheme::WithoutReplacement => Self::WithoutReplacement,
            BatchScheme::FixedOrder => Self::FixedOrder,
        }
    }
}

/// Orders by name, so maps list schemes in the same order as JSON.
impl Ord for SchemeName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl PartialOrd for SchemeName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
