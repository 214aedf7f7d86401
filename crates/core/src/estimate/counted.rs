//! Scores that are known by their counts alone.

use super::{EpsilonEstimate, Estimator, Evidence, ThresholdChoice, from_evidence};
use crate::score_store::Counts;
use crate::{BinCounts, Result};

/// Counts on the [`score_grid`](crate::score_grid) that no store of a game holds: of a simulation that draws counts
/// instead of scores, or of somebody else's histogram.
#[derive(Debug, Clone)]
pub struct CountedScores {
    counts: Counts,
    fair_coins: bool,
}

impl CountedScores {
    /// From the tables `In` and `Out`, each with the even trials first. `fair_coins` says that each trial's world was
    /// chosen by a fair coin of its own.
    pub fn new(tables: [[BinCounts; 2]; 2], fair_coins: bool) -> Self {
        CountedScores { counts: Counts::from_tables(tables), fair_coins }
    }

    /// The epsilon that the counts show.
    ///
    /// # Errors
    /// As [`ScoreStore::estimate`](crate::ScoreStore::estimate).
    pub fn estimate(
        &self,
        choice: ThresholdChoice,
        estimator: &dyn Estimator,
        delta: f64,
        significance: f64,
    ) -> Result<EpsilonEstimate> {
        let evidence = Evidence::of_counts(&self.counts).with_fair_coins(self.fair_coins);
        from_evidence(&evidence, choice, estimator, delta, significance)
    }
}
