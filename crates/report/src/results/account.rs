//! What theory said.

use super::Theory;
use misdeal_core::{DeltaBounds, TradeOffBounds};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What `account` wrote.
#[derive(Debug, Clone, Deserialize)]
pub struct Account {
    pub noise_multiplier: f64,
    pub steps: u64,
    pub sampling_probability: f64,
    pub steps_per_epoch: Option<u64>,
    pub epochs: Option<u64>,
    pub batch_size: Option<u64>,
    pub buffer_size: Option<u64>,
    pub delta: f64,
    pub claimed_epsilon: Option<f64>,
    pub schemes: Theory,
    pub epsilon: Option<f64>,
    #[serde(default)]
    pub deltas: BTreeMap<String, DeltaBounds>,
    #[serde(default)]
    pub trade_offs: BTreeMap<String, TradeOffBounds>,
    #[serde(default)]
    pub comparisons: Vec<Compared>,
}

/// A method of the field.
#[derive(Debug, Clone, Deserialize)]
pub struct Compared {
    pub scheme: String,
    pub method: String,
    pub epsilon_lower_bound: Option<f64>,
    pub epsilon_upper_bound: Option<f64>,
}

/// What `calibrate` wrote.
#[derive(Debug, Clone, Deserialize)]
pub struct Calibration {
    pub noise_multiplier: f64,
    pub epsilon: f64,
    pub target_epsilon: f64,
    pub delta: f64,
    pub scheme: String,
    pub buffer_size: Option<u64>,
    pub steps_per_epoch: Option<u64>,
    pub epochs: Option<u64>,
    pub batch_size: Option<u64>,
    pub bound: String,
}
