//! Choices of the threshold and of the scores that are counted at it.

misdeal_core::closed_set! {
    "threshold_choice",
    /// How the threshold comes about.
    pub enum ThresholdChoice {
        /// The best on the even trials; the errors of the odd ones are counted. As the two are independent, the bound holds.
        HoldOut,
        /// The best on all trials, counted on the same (the paper's Algorithm 1). The maximum of many bounds is no bound at
        /// the level of one: it errs upwards, so that it is not valid.
        Max,
        /// Many thresholds whose ranks were fixed in advance, all of them tested on all trials, with levels that add up. The
        /// bound holds, and is usually the tightest of those that do.
        Band,
        /// A band at each of a fixed series of looks, with levels that add up: the bound holds whenever the run is stopped.
        Sequential,
    }
}

impl ThresholdChoice {
    /// Whether a confidence bound at this threshold is valid.
    pub fn valid(self) -> bool {
        self != Self::Max
    }
}

/// A set of trials, by the parity of their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trials {
    /// All trials.
    All,
    /// The trials with an even index.
    Even,
    /// The trials with an odd index.
    Odd,
}
