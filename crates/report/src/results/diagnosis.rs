//! What `diagnose` wrote.

use super::Theory;
use misdeal_results::PositionSample;
use serde::Deserialize;

/// A diagnosis.
#[derive(Debug, Clone, Deserialize)]
pub struct Diagnosed {
    pub log: String,
    pub dataset_size: u64,
    pub epochs: u64,
    pub steps_per_epoch: u64,
    pub batch_size: u64,
    pub ranks: u64,
    pub scheme: String,
    pub parameters: Parameters,
    pub certain: bool,
    pub explanation: String,
    pub candidates: Vec<Held>,
    pub defects: Vec<Wrong>,
    pub leakage: Option<Leaking>,
    #[serde(default)]
    pub theory: Theory,
    pub seconds: f64,
    pub positions: Option<PositionSample>,
}

/// What a scheme was told beside its name.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct Parameters {
    pub buffer_size: Option<u64>,
    pub refilled_by: Option<u64>,
    pub sampling_probability: Option<f64>,
    pub order_is_reused: Option<bool>,
}

/// A scheme held against the log.
#[derive(Debug, Clone, Deserialize)]
pub struct Held {
    pub scheme: String,
    pub parameters: Parameters,
    pub log_likelihood: Option<f64>,
    pub p_value: f64,
    pub evidence: String,
}

/// Something that no scheme is meant to do.
#[derive(Debug, Clone, Deserialize)]
pub struct Wrong {
    pub defect: String,
    pub records: u64,
    pub message: String,
}

/// What leaks.
#[derive(Debug, Clone, Deserialize)]
pub struct Leaking {
    pub epsilon_lower_bound: Option<f64>,
    pub epsilon_upper_bound: Option<f64>,
    pub is_estimate: bool,
    /// Missing in documents of earlier versions.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// The schemes that the bounds hold for. Missing in documents of earlier versions.
    #[serde(default)]
    pub schemes: Vec<String>,
    pub method: String,
    pub noise_multiplier: f64,
    pub delta: f64,
    pub epochs: u64,
}
