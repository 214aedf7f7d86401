//! From scores to epsilon.

use super::{Completed, default_of_flags, number, one_of};
use clap::Args;
use misdeal_core::{Result, ScoreStore};
use misdeal_statistics::{EpsilonEstimate, Estimator, ThresholdChoice, check_levels, estimate, estimator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How scores become an epsilon.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Analysis {
    /// The delta at which epsilon is meant
    #[arg(long, allow_hyphen_values = true, default_value = "1e-5", value_parser = number, value_name = "D")]
    pub delta: f64,
    /// Level of the confidence bounds: 0.05 for 95 % confidence
    #[arg(long, allow_hyphen_values = true, default_value = "0.05", value_parser = number, value_name = "A")]
    pub significance: f64,
    /// How scores become an epsilon
    #[arg(long, default_value = "clopper-pearson", value_parser = Completed(ESTIMATOR_NAMES), value_name = "NAME")]
    pub estimator: String,
    /// How the threshold is chosen: band (the tightest that is valid), hold-out, sequential (valid whenever the run is
    /// stopped), or max (the paper's choice, not a valid bound)
    #[arg(long, default_value = "band", value_parser = one_of::<ThresholdChoice>(), value_name = "NAME")]
    pub threshold_choice: ThresholdChoice,
}

default_of_flags!(Analysis);

/// The names of all estimators.
pub(super) const ESTIMATOR_NAMES: &[&str] = &[
    "clopper-pearson",
    "jeffreys",
    "joint-bayesian",
    "log-katz",
    "gdp",
    "divergence",
    "one-run",
    "one-run-fdp",
    "raw",
];

/// The names of all estimators, and `all`.
pub(super) const ESTIMATOR_NAMES_AND_ALL: &[&str] = &[
    "all",
    "clopper-pearson",
    "jeffreys",
    "joint-bayesian",
    "log-katz",
    "gdp",
    "divergence",
    "one-run",
    "one-run-fdp",
    "raw",
];

impl Analysis {
    /// The estimator and the threshold choice, if every field is in its range.
    ///
    /// # Errors
    /// Names the first field that is not.
    pub fn parse(&self) -> Result<(&'static dyn Estimator, ThresholdChoice)> {
        check_levels(self.delta, self.significance)?;
        Ok((estimator(&self.estimator)?, self.threshold_choice))
    }

    /// Returns the epsilon that a store shows, and ignores earlier judgements.
    ///
    /// # Errors
    /// As [`Analysis::parse`], or too few scores.
    pub fn of_store(&self, store: &ScoreStore) -> Result<EpsilonEstimate> {
        let (estimator, choice) = self.parse()?;
        estimate(store, choice, estimator, self.delta, self.significance)
    }
}
