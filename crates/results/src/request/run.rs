//! How an audit runs.

use super::{Completed, default_of_flags, device, number, one_of, path};
use clap::Args;
use misdeal_core::{Device, StoreKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How much of an audit is run, what it claims, and where its scores are kept.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Run {
    /// What is kept of a score: counts on a fixed grid, or all scores
    #[arg(long, default_value = "counts", value_parser = one_of::<StoreKind>(), value_name = "KIND")]
    pub scores: StoreKind,
    /// What to compute on; auto takes a CUDA device for long runs, where there is one
    #[arg(long, default_value = "auto", value_parser = device(), value_name = "NAME")]
    pub device: Device,
    /// The epsilon that is claimed, to be tested
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "X")]
    pub claimed_epsilon: Option<f64>,
    /// Save the scores here, at intervals and at the end
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing, with = "path")]
    #[schemars(with = "Option<String>")]
    pub store: Option<PathBuf>,
    /// Seconds between two savings, at least
    #[arg(long, allow_hyphen_values = true, default_value = "10", value_parser = number, value_name = "S")]
    #[serde(skip_serializing)]
    pub save_every: f64,
    /// Go on from what the store holds
    #[arg(long)]
    #[serde(skip_serializing)]
    pub resume: bool,
    /// Do only part I of N; `misdeal merge` joins the parts
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// Stop at the first look (--threshold-choice sequential) that refutes the claim (violated), or whose bound is within X
    /// of the raw epsilon (width=X)
    #[arg(long, value_parser = Completed(&["violated", "width=0.5"]), hide_possible_values = true, value_name = "WHEN")]
    pub stop_when: Option<String>,
    /// The whole trade-off curve that is claimed, to be tested: a scheme such as poisson (the default if no epsilon is claimed) or
    /// balls-in-bins, gaussian (the Gaussian curve through the claimed epsilon), gdp=MU, or a .csv file with a delta and an epsilon on each
    /// line
    #[arg(long, value_parser = Completed(&["poisson", "balls-in-bins", "gaussian", "gdp=1"]), hide_possible_values = true, value_name = "CURVE")]
    pub claimed_curve: Option<String>,
    /// Also give the trade-off curve, and test the curve of the claimed epsilon and the one that is claimed as a whole
    #[arg(long)]
    pub trade_off: bool,
}

default_of_flags!(Run);
