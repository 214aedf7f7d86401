//! Proven bounds on epsilon, delta and the trade-off curve of a scheme.

use crate::{BoundMethod, SideMethod};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Proven bounds on epsilon at one delta.
///
/// A lower bound is never too large and an upper bound never too small. A side is `None` if no proof bounds it, and
/// `method` says why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// Some pair of neighbouring data sets leaks at least this much.
    pub epsilon_lower_bound: Option<f64>,
    /// No pair of neighbouring data sets leaks more than this.
    pub epsilon_upper_bound: Option<f64>,
    /// How the two sides were computed, in a few words each.
    pub method: BoundMethod,
}

impl Bounds {
    /// The lower and the upper side.
    pub fn sides(&self) -> [Option<f64>; 2] {
        [self.epsilon_lower_bound, self.epsilon_upper_bound]
    }

    /// Bounds whose sides are both unknown, with the reason.
    pub fn unknown(reason: impl Into<SideMethod>) -> Self {
        let method = BoundMethod::Both(reason.into());
        Bounds { epsilon_lower_bound: None, epsilon_upper_bound: None, method }
    }
}

/// Proven bounds on delta at one epsilon, with the guarantees of [`Bounds`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeltaBounds {
    /// Some pair of neighbouring data sets has at least this delta.
    pub delta_lower_bound: Option<f64>,
    /// No pair of neighbouring data sets has a larger delta than this.
    pub delta_upper_bound: Option<f64>,
    /// How the two sides were computed.
    pub method: BoundMethod,
}

/// Proven bounds on a scheme's trade-off curve.
///
/// The curve gives the smallest false-negative rate of any test at a false-positive rate.
///
/// The rates are in the order of `false_positive_rates`. A side is `None` if no proof bounds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TradeOffBounds {
    /// The false-positive rates at which the curve is given, ascending.
    pub false_positive_rates: Vec<f64>,
    /// Lower bounds: no test between neighbouring data sets has a smaller false-negative rate. Never too large.
    pub false_negative_rate_lower_bounds: Option<Vec<f64>>,
    /// Upper bounds: some test between some pair of neighbours reaches these false-negative rates. Never too small.
    pub false_negative_rate_upper_bounds: Option<Vec<f64>>,
    /// How the two sides were computed.
    pub method: BoundMethod,
}
