//! The audit of the mechanism.

use super::{Analysis, Game, Run, ShapeRequest, count, number, request};
use clap::Args;
use misdeal_core::{Result, Setting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `audit mechanism` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditMechanismRequest {
    /// Noise standard deviation divided by the clipping norm
    #[arg(long, allow_hyphen_values = true, default_value = "1.0", value_parser = number, value_name = "S")]
    pub noise_multiplier: f64,
    /// Batches and epochs.
    #[command(flatten)]
    #[serde(flatten)]
    pub shape: ShapeRequest,
    /// Batches, the target and its adversary.
    #[command(flatten)]
    #[serde(flatten)]
    pub game: Game,
    /// Observations in both worlds together
    #[arg(long, allow_hyphen_values = true, default_value = "1e7", value_parser = count, value_name = "N")]
    pub observations: u64,
    /// How scores become an epsilon.
    #[command(flatten)]
    #[serde(flatten)]
    pub analysis: Analysis,
    /// How much is run, and what becomes of it.
    #[command(flatten)]
    #[serde(flatten)]
    pub run: Run,
    /// The engine: auto, reference, cpu, cpu-avx512, cpu-avx2, cpu-portable or cuda
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
    /// Seed of all randomness.
    #[arg(skip)]
    pub seed: u64,
}

request!(AuditMechanismRequest, "audit mechanism");

impl AuditMechanismRequest {
    /// The setting, not yet validated.
    ///
    /// # Errors
    /// Schemes and buffers that do not belong together.
    pub fn setting(&self) -> Result<Setting> {
        let &Self { noise_multiplier, seed, .. } = self;
        let setting = Setting { noise_multiplier, seed, ..self.shape.setting() };
        self.game.applied_to(setting, self.shape.buffer_size)
    }
}
