//! What a log of batches tells about the scheme that made them.

use serde::{Deserialize, Serialize};

/// The name of what fits none of the schemes.
pub const UNKNOWN_SCHEME: &str = "unknown";

/// What a scheme needs to be told beside its name, as far as a log shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct SchemeParameters {
    /// Records in the buffer: the size under which the log is likeliest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_size: Option<u64>,
    /// The largest buffer that would have made so small displacements with probability 0.05 or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_size_upper_bound: Option<u64>,
    /// Records that are read at once into a sliding buffer, where it is not one for each that leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refilled_by: Option<u64>,
    /// The share of the records that a batch holds on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling_probability: Option<f64>,
    /// Whether the order of the first epoch serves all of them, in a scheme that should draw it anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_is_reused: Option<bool>,
}

/// One scheme held against a log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// The scheme's name.
    pub scheme: &'static str,
    /// The parameters under which the log is likeliest.
    pub parameters: SchemeParameters,
    /// ln of the probability of the log under the scheme, its parameters at their likeliest. `None` where the scheme could
    /// never have made these batches.
    pub log_likelihood: Option<f64>,
    /// The probability, under the scheme, of a log that looks at least as unlike it: the smallest of several tests' p-values times
    /// their number. Zero where the scheme could never have made these batches.
    pub p_value: f64,
    /// What speaks against the scheme, or how well it fits.
    pub evidence: String,
}

impl Candidate {
    /// A scheme that could never have made these batches, and why.
    pub fn impossible(scheme: &'static str, evidence: impl Into<String>) -> Self {
        let parameters = SchemeParameters::default();
        Candidate { scheme, parameters, log_likelihood: None, p_value: 0.0, evidence: evidence.into() }
    }
}

/// Something that no scheme is meant to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Defect {
    /// A short name, in words joined by hyphens.
    pub defect: &'static str,
    /// Records that it touches, in the epoch where they are most.
    pub records: u64,
    /// What was seen and what it means, in a sentence.
    pub message: String,
}

/// Where records of a log were dealt: at most some thousands of them, evenly spread over the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PositionSample {
    /// Records in the file.
    pub dataset_size: u64,
    /// Entries in an epoch, in the longest one.
    pub epoch_length: u64,
    /// The epochs shown.
    pub epochs: Vec<EpochPositions>,
}

/// Where some records were dealt in one epoch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EpochPositions {
    /// The epoch's number in the log.
    pub epoch: u64,
    /// For each record its position in the file and its position in the epoch.
    pub points: Vec<[u64; 2]>,
}

/// Which scheme made a log's batches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// A scheme's name, or [`UNKNOWN_SCHEME`].
    pub scheme: &'static str,
    /// Its parameters.
    pub parameters: SchemeParameters,
    /// Whether the scheme's log-likelihood leads all others by ten or more and its tests do not speak against it; for
    /// [`UNKNOWN_SCHEME`], whether the tests rule every scheme out.
    pub certain: bool,
    /// The verdict in plain words.
    pub verdict: String,
    /// All schemes, the likeliest first.
    pub candidates: Vec<Candidate>,
    /// What no scheme is meant to do.
    pub defects: Vec<Defect>,
}
