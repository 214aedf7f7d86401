//! Python sources.

use super::{path, paths, request};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What `scan` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScanRequest {
    /// Python files, notebooks, or folders of them
    #[arg(required = true, value_name = "PATH")]
    #[serde(with = "paths")]
    pub paths: Vec<PathBuf>,
    /// Count pipelines that shuffle first against those that batch first, instead of finding mistakes
    #[arg(long)]
    pub survey: bool,
    /// The rules that speak, separated by commas; all if not given
    #[arg(long, value_delimiter = ',', value_name = "RULE")]
    pub select: Vec<String>,
    /// Rules that do not speak, beside those of the settings
    #[arg(long, value_delimiter = ',', value_name = "RULE")]
    pub ignore: Vec<String>,
    /// Patterns of paths to leave out, beside those of the settings
    #[arg(long, value_delimiter = ',', value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Take every module for private training, whatever it imports
    #[arg(long)]
    pub assume_private: bool,
    /// Settings to use instead of the nearest misdeal.toml or pyproject.toml
    #[arg(long, value_name = "FILE")]
    #[serde(with = "path")]
    pub config: Option<PathBuf>,
}

request!(ScanRequest, "scan");
