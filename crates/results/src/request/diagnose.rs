//! Logs of batches.

use super::{count, number, path, request};
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What `diagnose` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DiagnoseRequest {
    /// The batches of record indices that the loader dealt: .jsonl with {"epoch": 0, "batch": [17, 3]} on each line, .npy of shape
    /// (epochs, batches, batch size), or .parquet with the columns epoch, batch and record
    #[arg(required = true, value_name = "LOG")]
    #[serde(with = "path")]
    #[schemars(with = "Option<String>")]
    pub log: Option<PathBuf>,
    /// Records in the data set; one more than the largest index if not given
    #[arg(long, visible_alias = "records", allow_hyphen_values = true, value_parser = count, value_name = "N")]
    pub dataset_size: Option<u64>,
    /// Also say what leaks at this noise (standard deviation divided by the clipping norm)
    #[arg(long, visible_alias = "sigma", allow_hyphen_values = true, value_parser = number, value_name = "S")]
    pub noise_multiplier: Option<f64>,
    /// The delta at which epsilon is meant
    #[arg(long, allow_hyphen_values = true, default_value = "1e-5", value_parser = number, value_name = "D")]
    pub delta: f64,
    /// Epochs of the whole run, for the leakage; those of the log if not given
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "E")]
    pub epochs: Option<u64>,
}

request!(DiagnoseRequest, "diagnose");
