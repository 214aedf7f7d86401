//! Scores that are known only as counts.

use crate::occupied_bins::OccupiedBins;
use crate::{BinTally, EpsilonEstimate, Estimator, Evidence, ThresholdChoice, at_level, from_evidence};
use misdeal_core::Result;

/// Counts on the [`score_grid`](misdeal_core::score_grid) that are not in a game's store.
///
/// Examples are a simulation that draws counts instead of scores, or a histogram from another source.
#[derive(Debug, Clone)]
pub struct CountedScores {
    bins: OccupiedBins,
    fair_coins: bool,
}

impl CountedScores {
    /// Counts from ascending bins.
    ///
    /// `fair_coins` says that an independent fair coin chose each trial's world.
    pub fn new(bins: impl IntoIterator<Item = (u32, BinTally)>, fair_coins: bool) -> Self {
        CountedScores { bins: OccupiedBins::new(bins), fair_coins }
    }

    /// The epsilon that these counts show.
    ///
    /// # Errors
    /// The errors of [`estimate`](crate::estimate()).
    pub fn estimate(
        &self,
        choice: ThresholdChoice,
        estimator: &dyn Estimator,
        delta: f64,
        significance: f64,
    ) -> Result<EpsilonEstimate> {
        from_evidence(&self.evidence(), choice, estimator, delta, significance)
    }

    /// Whether [`estimate`](Self::estimate) would be above `epsilon`; faster than the estimate itself.
    ///
    /// # Errors
    /// The errors of [`estimate`](Self::estimate).
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
