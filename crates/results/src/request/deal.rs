//! Plans of batches.

use super::{count, number, path, request};
use clap::Args;
use clap::builder::PossibleValuesParser;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What `deal` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DealRequest {
    /// Records in the training data
    #[arg(long, required = true, visible_alias = "records", allow_hyphen_values = true, value_parser = count, value_name = "N")]
    pub dataset_size: Option<u64>,
    /// Records in a batch on average; an epoch has dataset_size / batch_size steps, rounded down
    #[arg(long, required = true, allow_hyphen_values = true, value_parser = count, value_name = "B")]
    pub batch_size: Option<u64>,
    /// Passes over the data
    #[arg(long, allow_hyphen_values = true, default_value = "1", value_parser = count, value_name = "E")]
    pub epochs: u64,
    /// poisson (each record joins each batch by chance) or balls-in-bins (each record joins one batch of each epoch)
    #[arg(long, default_value = "poisson", value_parser = PossibleValuesParser::new(DEALT_SCHEMES), value_name = "NAME")]
    pub scheme: String,
    /// Records that a batch may have at most; excess records are dropped at random
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "C")]
    pub physical_batch_size: Option<u64>,
    /// The file of the secret seed, which is made if there is none; a fresh seed that nobody keeps if not given
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing, with = "path")]
    #[schemars(with = "Option<String>")]
    pub seed_file: Option<PathBuf>,
    /// Also bound epsilon at this noise (standard deviation divided by the clipping norm)
    #[arg(long, visible_alias = "sigma", allow_hyphen_values = true, value_parser = number, value_name = "S")]
    pub noise_multiplier: Option<f64>,
    /// The delta at which epsilon is meant
    #[arg(long, allow_hyphen_values = true, default_value = "1e-5", value_parser = number, value_name = "D")]
    pub delta: f64,
    /// A number as the seed, which voids privacy against whoever knows it.
    #[arg(skip)]
    #[serde(skip_serializing)]
    pub seed: Option<u64>,
    /// Where the plan is written.
    #[arg(skip)]
    #[serde(skip_serializing, with = "path")]
    #[schemars(with = "Option<String>")]
    pub output: Option<PathBuf>,
}

request!(DealRequest, "deal");

/// The schemes that are dealt.
const DEALT_SCHEMES: [&str; 2] = ["poisson", "balls-in-bins"];
