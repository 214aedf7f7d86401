//! The audit of the mechanism.

use super::{Analysis, Completed, Game, Run, ShapeRequest, count, number, one_of, request};
use clap::Args;
use misdeal_core::{BatchScheme, Error, Result, Setting, ThreatModel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `audit mechanism` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditMechanismRequest {
    /// Noise standard deviation divided by the clipping norm
    #[arg(long, visible_alias = "sigma", allow_hyphen_values = true, default_value = "1.0", value_parser = number, value_name = "S")]
    pub noise_multiplier: f64,
    /// Batches and epochs.
    #[command(flatten)]
    #[serde(flatten)]
    pub shape: ShapeRequest,
    /// Batches, the target and its adversary.
    #[command(flatten)]
    #[serde(flatten)]
    pub game: Game,
    /// What the adversary may choose
    #[arg(long, default_value = "worst-case", value_parser = one_of::<ThreatModel>(), value_name = "NAME")]
    pub threat_model: ThreatModel,
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
    /// The engine; chosen by --device if not given
    #[arg(long, value_parser = Completed(ENGINES), value_name = "NAME")]
    pub engine: Option<String>,
    /// Seed of all randomness.
    #[arg(skip)]
    pub seed: u64,
}

/// The engines that a user can name.
const ENGINES: &[&str] = &["auto", "reference", "cpu", "cpu-avx512", "cpu-avx2", "cpu-portable", "cuda"];

request!(AuditMechanismRequest, "audit mechanism");

impl AuditMechanismRequest {
    /// The setting, not yet validated.
    ///
    /// # Errors
    /// Schemes and buffers that do not belong together.
    pub fn setting(&self) -> Result<Setting> {
        let &Self { noise_multiplier, threat_model, seed, .. } = self;
        let counted = self.shape.counted()?;
        let setting = Setting { noise_multiplier, threat_model, seed, ..counted.whole_epochs()? };
        let setting = self.game.applied_to(setting, self.shape.buffer_size)?;
        if let Some(records) = counted.dataset_size.filter(|_| counted.unused_records() > Some(0))
            && [setting.scheme, setting.scoring_scheme()].contains(&BatchScheme::Poisson)
        {
            let allowed = format!(
                "a multiple of the batch size with the scheme poisson, such as {}",
                setting.dataset_size()
            );
            let hint = "an audit samples each record with probability 1 / steps_per_epoch";
            return Err(Error::bad_value("dataset_size", records, allowed, hint));
        }
        Ok(setting)
    }
}
