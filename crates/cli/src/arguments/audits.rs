//! The flags of both audits.

use super::{Arguments, AuditCommand, Command, EXIT_CODES};
use crate::number::{count, number, one_of};
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser};
use misdeal_core::{BatchScheme, CanaryKind, Device, LastBatch, Precision, Setting, StoreKind, ThreatModel};
use misdeal_statistics::ThresholdChoice;
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
#[command(after_help = EXIT_CODES)]
pub struct MechanismArguments {
    /// Noise standard deviation divided by the clipping norm
    #[arg(long, allow_hyphen_values = true, default_value = "1.0", value_parser = number, value_name = "S")]
    pub noise_multiplier: f64,
    #[command(flatten)]
    pub shape: ShapeArguments,
    #[command(flatten)]
    pub game: GameArguments,
    /// Observations in both worlds together
    #[arg(long, allow_hyphen_values = true, default_value = "1e7", value_parser = count, value_name = "N")]
    pub observations: u64,
    #[command(flatten)]
    pub run: RunArguments,
    /// The engine: auto, reference, cpu, cpu-avx512, cpu-avx2, cpu-portable or cuda
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
}

impl Default for MechanismArguments {
    /// What the command does when nothing is said.
    fn default() -> Self {
        let Some(Command::Audit { command: AuditCommand::Mechanism(arguments) }) =
            Arguments::parse_from(["misdeal", "audit", "mechanism"]).command
        else {
            unreachable!("these words are that command")
        };
        *arguments
    }
}

#[derive(Debug, Clone, Args)]
#[command(after_help = EXIT_CODES)]
pub struct TrainingArguments {
    /// What to train on: fashion-mnist, cifar-10, purchase-100, location-30, synthetic, or a file FILE.npz with features and
    /// labels
    #[arg(long, default_value = "synthetic", value_name = "NAME")]
    pub dataset: String,
    /// The folder that holds data sets; MISDEAL_DATA if not given
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Records to train on; 10,000 if not given (5,000 of location-30)
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "N")]
    pub dataset_size: Option<u64>,
    /// What to train: mlp, lenet, cnn, or a file FILE.toml with layers
    #[arg(long, default_value = "mlp", value_name = "NAME")]
    pub model: String,
    /// The step along the mean noisy gradient
    #[arg(long, allow_hyphen_values = true, default_value = "0.1", value_parser = number, value_name = "R")]
    pub learning_rate: f64,
    /// The norm that a record's gradient is clipped to
    #[arg(long, allow_hyphen_values = true, default_value = "1.0", value_parser = number, value_name = "C")]
    pub clip_norm: f64,
    /// Noise standard deviation divided by the clipping norm; 1.0 if neither this nor a target is given
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "S", conflicts_with = "target_epsilon")]
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
    #[command(flatten)]
    pub game: GameArguments,
    /// The direction of the target's gradient
    #[arg(long, default_value = "random", value_parser = one_of::<CanaryKind>(), value_name = "NAME")]
    pub canary: CanaryKind,
    /// Targets in one training, each with a direction of its own
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
    #[command(flatten)]
    pub run: RunArguments,
}

/// Who plays against whom.
#[derive(Debug, Clone, Args)]
pub struct GameArguments {
    /// How batches are made
    #[arg(long, default_value = "shuffle", value_parser = PossibleValuesParser::new(BatchScheme::NAMES), value_name = "NAME")]
    pub scheme: String,
    /// The target's position in the file
    #[arg(long, allow_hyphen_values = true, default_value = "0", value_parser = count, value_name = "I")]
    pub target_index: u64,
    /// What the adversary may choose; in the worst case it is every gradient, so that trained models learn nothing
    #[arg(long, default_value = "worst-case", value_parser = one_of::<ThreatModel>(), value_name = "NAME")]
    pub threat_model: ThreatModel,
    /// The scheme whose likelihood ratio scores the outputs, if not the one that runs
    #[arg(long, value_parser = PossibleValuesParser::new(BatchScheme::NAMES), value_name = "NAME")]
    pub adversary_scheme: Option<String>,
    /// Records in the buffer that the adversary's scheme assumes; the real buffer if not given
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "K")]
    pub adversary_buffer_size: Option<u64>,
}

/// How much is played, and what becomes of it.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
pub struct RunArguments {
    #[command(flatten)]
    pub analysis: AnalysisArguments,
    /// What is kept of a score: counts on a fixed grid, or all scores
    #[arg(long, default_value = "counts", value_parser = one_of::<StoreKind>(), value_name = "KIND")]
    pub scores: StoreKind,
    /// What to compute on; auto takes a CUDA device for long runs, where there is one
    #[arg(long, default_value = "auto", value_parser = one_of::<Device>(), value_name = "NAME")]
    pub device: Device,
    /// The epsilon that is claimed, to be tested
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "X")]
    pub claimed_epsilon: Option<f64>,
    /// Exit with 1 if a valid bound refutes the claim
    #[arg(long)]
    pub check: bool,
    /// Save the scores here, at intervals and at the end
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Seconds between two savings, at least
    #[arg(long, allow_hyphen_values = true, default_value = "10", value_parser = number, value_name = "S")]
    pub save_every: f64,
    /// Go on from what the store holds
    #[arg(long)]
    pub resume: bool,
    /// Do only part I of N; `misdeal merge` joins the parts
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// Stop at the first look (--threshold-choice sequential) that refutes the claim (violated), or whose bound is within X
    /// of the raw epsilon (width=X)
    #[arg(long, value_name = "WHEN")]
    pub stop_when: Option<String>,
    /// The whole trade-off curve that is claimed, to be tested: poisson (the default if no epsilon is
    /// claimed), or gdp=MU, the Gaussian curve
    #[arg(long, value_name = "CURVE")]
    pub claimed_curve: Option<String>,
    /// Also give the trade-off curve, and test the curve of the claimed epsilon and the one that is claimed as a whole
    #[arg(long)]
    pub trade_off: bool,
    /// Draw the scores of both worlds and the trade-off curve into a file that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Let an adversary that does not know the buffer guess its size: the paper's guesses, then bisection, levels corrected so that the
    /// largest bound is valid
    #[arg(long, conflicts_with = "adversary_buffer_size")]
    pub search_buffer: bool,
    /// Take the largest of the guesses as the paper does, without correcting the level (not a valid bound)
    #[arg(long, requires = "search_buffer")]
    pub uncorrected: bool,
}

/// The shape of a training run.
#[derive(Debug, Clone, Args)]
pub struct ShapeArguments {
    /// Batches in an epoch
    #[arg(long, allow_hyphen_values = true, default_value = "100", value_parser = count, value_name = "T")]
    pub steps_per_epoch: u64,
    /// Passes over the data
    #[arg(long, allow_hyphen_values = true, default_value = "1", value_parser = count, value_name = "E")]
    pub epochs: u64,
    /// Records in a batch
    #[arg(long, allow_hyphen_values = true, default_value = "100", value_parser = count, value_name = "B")]
    pub batch_size: u64,
    /// Records in the buffer of partial-shuffle and stream-shuffle
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "K")]
    pub buffer_size: Option<u64>,
}

impl ShapeArguments {
    /// The default setting with this shape; the buffer belongs to its scheme, which is chosen elsewhere.
    pub fn setting(&self) -> Setting {
        Setting {
            steps_per_epoch: self.steps_per_epoch,
            epochs: self.epochs,
            batch_size: self.batch_size,
            ..Setting::default()
        }
    }
}

#[derive(Debug, Clone, Args)]
pub struct AnalysisArguments {
    /// The delta at which epsilon is meant
    #[arg(long, allow_hyphen_values = true, default_value = "1e-5", value_parser = number, value_name = "D")]
    pub delta: f64,
    /// Level of the confidence bounds: 0.05 for 95 % confidence
    #[arg(long, allow_hyphen_values = true, default_value = "0.05", value_parser = number, value_name = "A")]
    pub significance: f64,
    /// How scores become an epsilon: clopper-pearson, jeffreys, joint-bayesian, log-katz, gdp, divergence, one-run,
    /// one-run-fdp or raw
    #[arg(long, default_value = "clopper-pearson", value_name = "NAME")]
    pub estimator: String,
    /// hold-out, band (the tightest that is valid), sequential (valid whenever the run is stopped), or max (the paper's
    /// choice, not a valid bound)
    #[arg(long, default_value = "hold-out", value_parser = one_of::<ThresholdChoice>(), value_name = "NAME")]
    pub threshold_choice: ThresholdChoice,
}
