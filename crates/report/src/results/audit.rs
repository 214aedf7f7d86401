//! What audits wrote.

use super::{Describing, Estimate, Theory, TradeOff};
use misdeal_core::Setting;
use misdeal_statistics::ScoreHistogram;
use serde::Deserialize;
use std::collections::BTreeMap;

/// An audit of the mechanism or of training.
#[derive(Debug, Clone, Deserialize)]
pub struct Audit {
    pub setting: Setting,
    pub observations: u64,
    #[serde(default)]
    pub stopped_early: bool,
    pub seed: u64,
    #[serde(flatten)]
    pub estimate: Estimate,
    pub descriptive: Option<Describing>,
    #[serde(default, deserialize_with = "super::histogram::whole")]
    pub score_histogram: Option<ScoreHistogram>,
    pub claimed_epsilon: Option<f64>,
    pub theory: Theory,
    pub trade_off: Option<TradeOff>,
    pub scores: Option<String>,
    pub engine: String,
    pub seconds: f64,
    pub observations_per_second: f64,
    pub store: Option<String>,
    pub buffer_search: Option<BufferGuesses>,
    #[serde(flatten)]
    pub training: Option<Training>,
}

impl Audit {
    /// Whether the claim is the one that Poisson sampling would justify.
    pub fn claims_poisson(&self) -> bool {
        let poisson = self.theory.get("poisson").and_then(|bounds| bounds.epsilon_upper_bound);
        poisson.is_some() && poisson == self.claimed_epsilon
    }
}

/// The guesses of an adversary that does not know the buffer.
#[derive(Debug, Clone, Deserialize)]
pub struct BufferGuesses {
    pub buffer_size: u64,
    pub correction: String,
    pub meaning: String,
    pub guesses: Vec<Guess>,
}

/// One of them.
#[derive(Debug, Clone, Deserialize)]
pub struct Guess {
    pub buffer_size: u64,
    pub batches: u64,
    #[serde(deserialize_with = "super::infinite_if_null")]
    pub empirical_epsilon: f64,
}

/// What was trained.
#[derive(Debug, Clone, Deserialize)]
pub struct Training {
    pub dataset: String,
    pub dataset_size: u64,
    pub model: String,
    pub parameters: u64,
    pub recipe: Recipe,
    pub target_epsilon: Option<f64>,
    pub models_per_second: f64,
    pub train_accuracy: Option<Spread>,
    pub test_accuracy: Option<Spread>,
    pub bias: Option<Spread>,
}

/// How it was trained.
#[derive(Debug, Clone, Deserialize)]
pub struct Recipe {
    pub learning_rate: f64,
    pub clip_norm: f64,
    pub canary: String,
    pub canaries: u64,
    pub debias: bool,
    pub last_batch: String,
}

/// A mean and a standard deviation.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Spread {
    pub mean: f64,
    pub standard_deviation: f64,
}

/// The outputs of somebody's own training, judged.
#[derive(Debug, Clone, Deserialize)]
pub struct Outputs {
    pub setting: Setting,
    pub observations: u64,
    pub delta: f64,
    pub significance: f64,
    pub valid: bool,
    #[serde(deserialize_with = "super::infinite_if_null")]
    pub empirical_epsilon: f64,
    pub score: String,
    pub estimates: BTreeMap<String, Estimate>,
    pub claimed_epsilon: Option<f64>,
    pub theory: Theory,
}

impl Outputs {
    /// What either score could have shown at most: the one that shows more is reported. `None` where nothing bounds one of them.
    pub fn largest_epsilon(&self) -> Option<f64> {
        self.estimates.values().try_fold(0.0, |most: f64, one| Some(most.max(one.largest_epsilon?)))
    }
}
