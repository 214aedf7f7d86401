//! The names of the estimators.

use misdeal_core::ClosedSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

/// The method that turns scores into an epsilon.
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
    /// As `one-run`, if the trade-off curve is Gaussian.
    OneRunFdp,
    /// The observed rates, without confidence bounds.
    Raw,
}

impl ClosedSet for EstimatorName {
    const FIELD: &'static str = "estimator";
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

impl fmt::Display for EstimatorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
