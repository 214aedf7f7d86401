//! Reports on files that a command wrote.

use crate::request::{self, MergeRequest};
use misdeal_core::Setting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shards of a run, merged to one store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Merged {
    /// What was asked for; absent in older documents.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "request::if_known")]
    pub request: Option<MergeRequest>,
    /// Stores that were read.
    pub stores: u64,
    /// Observations in both worlds together.
    pub observations: u64,
    /// The ranges of trials, of either world, that lie before the last one and are in none of the stores: `[first, end)`.
    pub missing_trials: Vec<[u64; 2]>,
    /// What they are observations of.
    pub setting: Setting,
    /// Where the merged store was written.
    pub output: String,
}

/// Stored results, laid out: a page in HTML, or a drawing as SVG or PNG.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaidOut {
    /// Results on the page or drawing.
    pub results: u64,
    /// The file's size in bytes.
    pub bytes: u64,
    /// The file.
    pub output: String,
}
