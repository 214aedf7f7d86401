//! Choices of the threshold and of the scores that are counted at it.

use misdeal_core::ClosedSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

/// The rule that chooses the threshold.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    EnumString,
    IntoStaticStr,
    VariantArray,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ThresholdChoice {
    /// The best threshold on the even trials; errors are counted on the odd ones. The two sets are independent, so the
    /// bound is valid.
    HoldOut,
    /// The best threshold on all trials, with errors counted on the same trials (the paper's Algorithm 1). The maximum
    /// of many bounds is not a bound at the level of one. It errs upwards, so it is not valid.
    Max,
    /// Many thresholds with ranks fixed in advance, each tested on all trials, with levels that add up. The bound is
    /// valid, and usually the tightest valid one.
    Band,
    /// A band at each of a fixed series of looks, with levels that add up. The bound is valid whenever the run stops.
    Sequential,
}

impl ClosedSet for ThresholdChoice {
    const FIELD: &'static str = "threshold_choice";
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
