//! Which scores choose the threshold, and which are counted at it.

use crate::{Error, Result};
use serde::Serialize;

/// How the threshold comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
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

impl ThresholdChoice {
    /// All choices.
    pub const ALL: [ThresholdChoice; 4] = [Self::HoldOut, Self::Max, Self::Band, Self::Sequential];

    /// The choice called `name`.
    ///
    /// # Errors
    /// An unknown name.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|choice| choice.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::bad_value("threshold_choice", name, format!("one of {names}"), "check the spelling")
        })
    }

    /// The name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::HoldOut => "hold-out",
            Self::Max => "max",
            Self::Band => "band",
            Self::Sequential => "sequential",
        }
    }

    /// Whether a confidence bound at this threshold is one.
    pub fn valid(self) -> bool {
        self != Self::Max
    }
}

/// A choice of trials by the parity of their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trials {
    /// All of them.
    All,
    /// Those with an even index.
    Even,
    /// Those with an odd one.
    Odd,
}
