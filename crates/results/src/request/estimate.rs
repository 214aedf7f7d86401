//! Scores from anywhere.

use super::analysis::ESTIMATOR_NAMES_AND_ALL;
use super::{Analysis, Completed, number, path, request};
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What `estimate` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[command(mut_arg("estimator", |arg| arg.value_parser(Completed(ESTIMATOR_NAMES_AND_ALL))))]
pub struct EstimateRequest {
    /// Scores of runs with the target (.npy, .csv or .parquet)
    #[arg(long, value_name = "FILE")]
    #[serde(with = "path")]
    #[schemars(with = "Option<String>")]
    pub scores_in: Option<PathBuf>,
    /// Scores of runs without it
    #[arg(long, value_name = "FILE")]
    #[serde(with = "path")]
    #[schemars(with = "Option<String>")]
    pub scores_out: Option<PathBuf>,
    /// Scores of both kinds of runs in one file (.csv or .parquet), with a column that says which
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scores_in", "scores_out"])]
    #[serde(with = "path")]
    #[schemars(with = "Option<String>")]
    pub scores: Option<PathBuf>,
    /// The column of --scores that is 1, true or yes for runs with the target, and 0, false or no for runs without it
    #[arg(long, default_value = "member", value_name = "NAME")]
    pub member_column: String,
    /// The column of --scores with the scores
    #[arg(long, default_value = "score", value_name = "NAME")]
    pub score_column: String,
    /// How scores become an epsilon.
    #[command(flatten)]
    #[serde(flatten)]
    pub analysis: Analysis,
    /// The epsilon that is claimed, to be tested
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "X")]
    pub claimed_epsilon: Option<f64>,
    /// The whole trade-off curve that is claimed, to be tested: gaussian (the Gaussian curve through the claimed epsilon), gdp=MU, or a
    /// .csv file with a delta and an epsilon on each line
    #[arg(long, value_parser = Completed(&["gaussian", "gdp=1"]), hide_possible_values = true, value_name = "CURVE")]
    pub claimed_curve: Option<String>,
    /// State that a fair coin of its own included each canary in one training; bounds of one-run estimators rest on it
    #[arg(long)]
    pub fair_coins: bool,
    /// Also give the trade-off curve, and test the curve of the claimed epsilon and the one that is claimed as a whole
    #[arg(long)]
    pub trade_off: bool,
}

request!(EstimateRequest, "estimate");
