//! What `reproduce` wrote.

use super::{Spread, Theory, TradeOff};
use misdeal_core::{Bounds, Setting, ThreatModel};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The paper beside what was played.
#[derive(Debug, Clone, Deserialize)]
pub struct Reproduction {
    pub name: String,
    pub seed: Option<u64>,
    pub quick: bool,
    pub only: Option<String>,
    pub runs: Option<u64>,
    pub observations: Option<u64>,
    pub precision: Option<String>,
    pub artefacts: Vec<Heading>,
    pub rows: Vec<Reproduced>,
    #[serde(default)]
    pub deals: Vec<Dealt>,
    pub seconds: f64,
}

/// A scheme on a small file, dealt many times.
#[derive(Debug, Clone, Deserialize)]
pub struct Dealt {
    pub artefact: String,
    pub name: String,
    pub setting: Setting,
    pub shown_epochs: Vec<Vec<Vec<u64>>>,
    pub epochs: u64,
    pub target_shares: Vec<f64>,
    pub company_shares: Vec<f64>,
}

/// What a table or a figure is about.
#[derive(Debug, Clone, Deserialize)]
pub struct Heading {
    pub name: String,
    pub title: String,
    pub place: String,
    pub remarks: Vec<String>,
    /// What earlier versions did not count.
    pub above_the_claim: Option<AboveTheClaim>,
}

/// In how many published settings more is found than Poisson sampling justifies.
#[derive(Debug, Clone, Deserialize)]
pub struct AboveTheClaim {
    #[serde(flatten)]
    pub all: AboveCount,
    pub by_provenance: BTreeMap<String, AboveCount>,
}

/// How many of some settings that were played, by what tells it.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct AboveCount {
    pub settings: u64,
    pub theory: u64,
    pub valid: u64,
    pub ours: u64,
}

/// A printed number beside ours.
#[derive(Debug, Clone, Deserialize)]
pub struct Reproduced {
    pub artefact: String,
    pub name: String,
    pub series: Option<String>,
    pub printed: Option<f64>,
    pub ours: Option<f64>,
    pub standard_deviation: Option<f64>,
    pub valid_epsilon: Option<f64>,
    #[serde(default)]
    pub tolerance: f64,
    #[serde(default)]
    pub tolerance_reason: String,
    pub verdict: Option<String>,
    pub reason: Option<String>,
    pub printed_claim: Option<f64>,
    pub theory: Theory,
    pub setting: Option<Setting>,
    pub delta: f64,
    pub observations: u64,
    pub printed_observations: Option<u64>,
    pub runs: u64,
    pub dataset: Option<String>,
    pub test_accuracy: Option<Spread>,
    pub bias: Option<Spread>,
    pub trade_off: Option<TradeOff>,
    pub engine: Option<String>,
}

impl Reproduced {
    /// Theory's bounds for the scheme that was played.
    pub fn theory_of_the_scheme(&self) -> Option<&Bounds> {
        self.theory.get(self.setting.as_ref()?.scheme.name())
    }

    /// What the adversary could do.
    pub fn threat_model(&self) -> Option<ThreatModel> {
        self.setting.as_ref().map(|setting| setting.threat_model)
    }

    /// What could be claimed were batches drawn by Poisson sampling.
    pub fn poisson_upper_bound(&self) -> Option<f64> {
        self.theory.get("poisson")?.epsilon_upper_bound
    }
}
