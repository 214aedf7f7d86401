//! Scores that are known by their counts alone.

use crate::occupied_bins::OccupiedBins;
use crate::{BinTally, EpsilonEstimate, Estimator, Evidence, ThresholdChoice, at_level, from_evidence};
use misdeal_core::Result;

/// Counts on the [`score_grid`](misdeal_core::score_grid) that no store of a game holds: of a simulation that draws counts
/// instead of scores, or of somebody else's histogram.
#[derive(Debug, Clone)]
pub struct CountedScores {
    bins: OccupiedBins,
    fair_coins: bool,
}

impl CountedScores {
    /// From ascending bins. `fair_coins` says that each trial's world was chosen by a fair coin of its own.
    pub fn new(bins: impl IntoIterator<Item = (u32, BinTally)>, fair_coins: bool) -> Self {
        CountedScores { bins: OccupiedBins::new(bins), fair_coins }
    }

    /// The epsilon that the counts show.
    ///
    /// # Errors
    /// As [`estimate`](crate::estimate()).
    pub fn estimate(
        &self,
        choice: ThresholdChoice,
        estimator: &dyn Estimator,
        delta: f64,
        significance: f64,
    ) -> Result<EpsilonEstimate> {
        from_evidence(&self.evidence(), choice, estimator, delta, significance)
    }

    /// Whether [`estimate`](Self::estimate) would be above `epsilon`, which is sooner told.
    ///
    /// # Errors
    /// As [`estimate`](Self::estimate).
    pub fn refutes(
        &self,
        epsilon: f64,
        choice: ThresholdChoice,
        estimator: &dyn Estimator,
        delta: f64,
        significance: f64,
    ) -> Result<bool> {
        let evidence = self.evidence();
        let (evidence, level) = at_level(&evidence, choice, delta, significance)?;
        Ok(estimator.refutes(epsilon, &evidence, choice, delta, level))
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence::of_bins(&self.bins).with_fair_coins(self.fair_coins)
    }
}
