//! Scores from anywhere.

use super::{Analysis, number, path, request};
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What `estimate` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EstimateRequest {
    /// Scores of runs with the target (.npy, .csv or .parquet)
    #[arg(long, required = true, value_name = "FILE")]
    #[serde(with = "path")]
    #[schemars(with = "Option<String>")]
    pub scores_in: Option<PathBuf>,
    /// Scores of runs without it
    #[arg(long, required = true, value_name = "FILE")]
    #[serde(with = "path")]
    #[schemars(with = "Option<String>")]
    pub scores_out: Option<PathBuf>,
    /// How scores become an epsilon.
    #[command(flatten)]
    #[serde(flatten)]
    pub analysis: Analysis,
    /// The epsilon that is claimed, to be tested
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "X")]
    pub claimed_epsilon: Option<f64>,
    /// The whole trade-off curve that is claimed, to be tested: gdp=MU, the Gaussian curve
    #[arg(long, value_name = "CURVE")]
    pub claimed_curve: Option<String>,
    /// State that a fair coin of its own included each canary in one training; bounds of one-run estimators rest on it
    #[arg(long)]
    pub fair_coins: bool,
    /// Also give the trade-off curve, and test the curve of the claimed epsilon and the one that is claimed as a whole
    #[arg(long)]
    pub trade_off: bool,
}

request!(EstimateRequest, "estimate");
