//! Shards of a run.

use super::{path, paths, request};
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What `merge` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MergeRequest {
    /// The stores to join; --output names the result
    #[arg(required = true, value_name = "STORE")]
    #[serde(with = "paths")]
    #[schemars(with = "Vec<String>")]
    pub stores: Vec<PathBuf>,
    /// Where the joined store is written.
    #[arg(skip)]
    #[serde(with = "path")]
    #[schemars(with = "Option<String>")]
    pub output: Option<PathBuf>,
}

request!(MergeRequest, "merge");
