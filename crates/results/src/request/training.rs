//! The audit of training.

use super::{Analysis, Completed, Game, Run, count, number, one_of, path, request};
use clap::Args;
use misdeal_core::{CanaryKind, Error, LastBatch, Precision, Result, Setting, ThreatModel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What `audit training` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditTrainingRequest {
    /// What to train on: fashion-mnist, cifar-10, purchase-100, location-30, synthetic, or a file FILE.npz with features and
    /// labels
    #[arg(long, default_value = "synthetic", value_parser = Completed(DATASETS), hide_possible_values = true, value_name = "NAME")]
    pub dataset: String,
    /// The folder that holds data sets; MISDEAL_DATA if not given
    #[arg(long, value_name = "DIR")]
    #[serde(with = "path")]
    #[schemars(with = "Option<String>")]
    pub data: Option<PathBuf>,
    /// Records to train on; 10,000 if not given (5,000 of location-30)
    #[arg(long, visible_alias = "records", allow_hyphen_values = true, value_parser = count, value_name = "N")]
    pub dataset_size: Option<u64>,
    /// What to train: mlp, lenet, cnn, or a file FILE.toml with layers
    #[arg(long, default_value = "mlp", value_parser = Completed(&["mlp", "lenet", "cnn"]), hide_possible_values = true, value_name = "NAME")]
    pub model: String,
    /// The step along the mean noisy gradient
    #[arg(long, allow_hyphen_values = true, default_value = "0.1", value_parser = number, value_name = "R")]
    pub learning_rate: f64,
    /// The norm that a record's gradient is clipped to
    #[arg(long, allow_hyphen_values = true, default_value = "1.0", value_parser = number, value_name = "C")]
    pub clip_norm: f64,
    /// Noise standard deviation divided by the clipping norm; 1.0 if neither this nor a target is given
    #[arg(long, visible_alias = "sigma", allow_hyphen_values = true, value_parser = number, value_name = "S", conflicts_with = "target_epsilon")]
    pub noise_multiplier: Option<f64>,
    /// Calibrate the noise to this epsilon, as if batches were drawn by Poisson sampling
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "X")]
    pub target_epsilon: Option<f64>,
    /// Passes over the data
    #[arg(long, allow_hyphen_values = true, default_value = "1", value_parser = count, value_name = "E")]
    pub epochs: u64,
    /// Records in a batch
    #[arg(long, allow_hyphen_values = true, default_value = "100", value_parser = count, value_name = "B")]
    pub batch_size: u64,
    /// Records in the buffer of partial-shuffle and stream-shuffle
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "K")]
    pub buffer_size: Option<u64>,
    /// Batches, the target and its adversary.
    #[command(flatten)]
    #[serde(flatten)]
    pub game: Game,
    /// What the adversary may choose; in the worst case it is every gradient, so that trained models learn nothing
    #[arg(long, default_value = "partially-informed", value_parser = one_of::<ThreatModel>(), value_name = "NAME")]
    pub threat_model: ThreatModel,
    /// The direction of the target's gradient
    #[arg(long, default_value = "random", value_parser = one_of::<CanaryKind>(), value_name = "NAME")]
    pub canary: CanaryKind,
    /// Targets in one training, each with a fair coin and a direction of its own, and each with a score
    #[arg(long, allow_hyphen_values = true, default_value = "1", value_parser = count, value_name = "K")]
    pub canaries: u64,
    /// Let the adversary model the other records' part in its outputs
    #[arg(long)]
    pub debias: bool,
    /// What happens to records that do not fill a batch
    #[arg(long, default_value = "drop", value_parser = one_of::<LastBatch>(), value_name = "NAME")]
    pub last_batch: LastBatch,
    /// The arithmetic: f32, or tf32 on a CUDA device: faster, products with factors of eleven significant bits
    #[arg(long, default_value = "f32", value_parser = one_of::<Precision>(), value_name = "NAME")]
    pub precision: Precision,
    /// Models to train, in both worlds together
    #[arg(long, allow_hyphen_values = true, default_value = "1000", value_parser = count, value_name = "N")]
    pub observations: u64,
    /// How scores become an epsilon.
    #[command(flatten)]
    #[serde(flatten)]
    pub analysis: Analysis,
    /// How much is run, and what becomes of it.
    #[command(flatten)]
    #[serde(flatten)]
    pub run: Run,
    /// Seed of all randomness.
    #[arg(skip)]
    pub seed: u64,
}

/// The data sets that have a name.
const DATASETS: &[&str] = &["synthetic", "fashion-mnist", "cifar-10", "purchase-100", "location-30"];

request!(AuditTrainingRequest, "audit training");

impl AuditTrainingRequest {
    /// The setting before its noise is calibrated and its steps are counted, not yet validated.
    ///
    /// # Errors
    /// Both a noise and a target, or schemes and buffers that do not belong together.
    pub fn setting(&self) -> Result<Setting> {
        let &Self { noise_multiplier, threat_model, epochs, batch_size, seed, .. } = self;
        if let (Some(noise), Some(_)) = (noise_multiplier, self.target_epsilon) {
            let hint = "a target takes the noise's place";
            return Err(Error::bad_value(
                "noise_multiplier",
                noise,
                "no `noise_multiplier` with `target_epsilon`",
                hint,
            ));
        }
        let noise_multiplier = noise_multiplier.unwrap_or(1.0);
        let setting =
            Setting { noise_multiplier, threat_model, epochs, batch_size, seed, ..Setting::default() };
        self.game.applied_to(setting, self.buffer_size)
    }
}
