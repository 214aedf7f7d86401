//! What theory says about one scheme.

use serde::{Deserialize, Serialize};

/// Proven bounds on epsilon at one delta.
///
/// A lower bound is never too large and an upper bound never too small. A side that nobody knows how to bound is
/// `None`, and `method` says why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Some pair of neighbouring data sets leaks at least this much.
    pub epsilon_lower_bound: Option<f64>,
    /// No pair of neighbouring data sets leaks more than this.
    pub epsilon_upper_bound: Option<f64>,
    /// How the two sides were computed, in a few words each.
    pub method: String,
}

impl Bounds {
    /// Bounds whose sides are both unknown, with the reason.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Bounds { epsilon_lower_bound: None, epsilon_upper_bound: None, method: reason.into() }
    }
}
