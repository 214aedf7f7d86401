//! The names of the estimators.

use misdeal_core::ClosedSet;
use std::cmp::Ordering;

misdeal_core::closed_set! {
    "estimator",
    /// How scores become an epsilon.
    pub enum EstimatorName {
        /// Exact binomial bounds on both error rates.
        ClopperPearson,
        /// Jeffreys' intervals of both error rates.
        Jeffreys,
        /// The posterior of both error rates together.
        JointBayesian,
        /// The logarithm of a ratio of rates, by Katz.
        LogKatz,
        /// The Gaussian trade-off curve through the errors.
        Gdp,
        /// The hockey-stick divergence of the scores' laws.
        Divergence,
        /// Right guesses about canaries of one training.
        OneRun,
        /// The same, if the trade-off curve is Gaussian.
        OneRunFdp,
        /// The observed rates as they are.
        Raw,
    }
}

/// Orders by name, so maps list estimators in the same order as JSON.
impl Ord for EstimatorName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl PartialOrd for EstimatorName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
