//! The command line, defined once: help and parsing come from here.

mod audits;
mod scan;

pub use audits::{
    AnalysisArguments, GameArguments, MechanismArguments, RunArguments, ShapeArguments, TrainingArguments,
};
pub use scan::ScanArguments;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::number::{count, number, one_of};
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use misdeal::BoundSide;
use misdeal_core::{BatchScheme, Device, Precision};
use misdeal_paper::ARTEFACTS;
use std::path::PathBuf;

/// What exit codes mean, below every command's help.
pub const EXIT_CODES: &str = "Exit codes: 0 done; 1 done, and the answer is the bad news that was asked for (--check, findings of scan, a failed self-test); \
    2 bad usage or bad input; 3 the run itself failed; 130 and 143 interrupted.";

/// Tells whether the way training data is shuffled voids the privacy guarantee that a DP-SGD model claims.
///
/// Without a command it audits the default setting: full shuffling, noise multiplier 1, 100 steps, one epoch.
#[derive(Debug, Parser)]
#[command(name = "misdeal", version, after_help = EXIT_CODES, subcommand_precedence_over_arg = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub common: CommonArguments,
}

#[derive(Debug, Args)]
pub struct CommonArguments {
    /// Print for people, or one JSON document; sarif and github (workflow annotations) are for scan alone
    #[arg(long, global = true, value_enum, default_value_t = Format::Text, help_heading = "Common options")]
    pub format: Format,
    /// Write the result here instead of to standard output
    #[arg(long, short, global = true, value_name = "FILE", help_heading = "Common options")]
    pub output: Option<PathBuf>,
    /// Seed of all randomness
    #[arg(long, global = true, allow_hyphen_values = true, default_value = "0", value_parser = count, help_heading = "Common options")]
    pub seed: u64,
    /// Threads to use; all cores if not given
    #[arg(long, global = true, allow_hyphen_values = true, value_parser = count, help_heading = "Common options")]
    pub threads: Option<u64>,
    /// No progress and no remarks
    #[arg(long, global = true, help_heading = "Common options")]
    pub quiet: bool,
    /// Where a command prints, and what it hears
    #[arg(skip)]
    pub environment: Environment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Sarif,
    Github,
}

impl CommonArguments {
    /// Refuses an output that cannot be written before any work is done for it.
    pub fn check_output(&self) -> Result<(), Failure> {
        Ok(self.output.as_deref().map_or(Ok(()), misdeal_files::atomic::check_place)?)
    }

    /// Refuses the formats that are for findings alone.
    pub fn check_format(&self) -> Result<(), Failure> {
        match self.format {
            Format::Text | Format::Json => Ok(()),
            Format::Sarif | Format::Github => {
                Err(self.refuse_format("text or json", "only scan has findings to annotate"))
            }
        }
    }

    /// Refuses every format but text, for scripts and pages.
    pub fn check_is_text(&self) -> Result<(), Failure> {
        match self.format {
            Format::Text => Ok(()),
            _ => Err(self.refuse_format("text", "this is a script or a page, no result")),
        }
    }

    /// The failure for a format that makes no sense here.
    pub fn refuse_format(&self, allowed: &'static str, hint: &'static str) -> Failure {
        let format =
            self.format.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        misdeal_core::Error::bad_value("format", format, allowed, hint).into()
    }

    /// The folder of data sets: the flag's, else that of the variable MISDEAL_DATA.
    pub fn data_folder(&self, given: Option<&PathBuf>) -> Option<PathBuf> {
        given.cloned().or_else(|| self.environment.variable("MISDEAL_DATA").map(PathBuf::from))
    }

    /// The number of threads that was asked for, if any was.
    pub fn checked_threads(&self) -> Result<Option<usize>, Failure> {
        match self.threads {
            None => Ok(None),
            Some(threads) if (1..=4096).contains(&threads) => Ok(Some(threads as usize)),
            Some(threads) => {
                let allowed = "a whole number from 1 to 4096";
                let hint = "leave it out to use all cores";
                Err(misdeal_core::Error::bad_value("threads", threads, allowed, hint).into())
            }
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play the distinguishing game and bound the leakage from below
    #[command(arg_required_else_help = false)]
    Audit {
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// Turn scores from anywhere into an epsilon
    Estimate(EstimateArguments),
    /// Join the shards of a run into one store
    Merge(MergeArguments),
    /// What theory says, scheme by scheme
    Account(AccountArguments),
    /// The noise for a target epsilon under a scheme
    Calibrate(CalibrateArguments),
    /// Which scheme is behind the batches of a real data loader, and what it costs
    Diagnose(DiagnoseArguments),
    /// Find sampling mistakes in Python sources and notebooks
    Scan(ScanArguments),
    /// The paper's tables and figures beside ours
    Reproduce(ReproduceArguments),
    /// Stored results as one self-contained HTML page, or one of them as a figure
    Report(ReportArguments),
    /// What there is to compute on
    Devices,
    /// Whether it computes right: every part against something known, in under half a minute
    SelfTest(SelfTestArguments),
    /// A script that completes commands and flags in a shell
    Completions(CompletionsArguments),
    /// The manual page of the program; with --output, a folder: the pages of all commands
    Man,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// The batched Gaussian mechanism, the paper's Algorithm 5
    Mechanism(Box<MechanismArguments>),
    /// DP-SGD on real data and models, the paper's Algorithm 2
    Training(Box<TrainingArguments>),
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct EstimateArguments {
    /// Scores of runs with the target (.npy, .csv or .parquet)
    #[arg(long, value_name = "FILE")]
    pub scores_in: PathBuf,
    /// Scores of runs without it
    #[arg(long, value_name = "FILE")]
    pub scores_out: PathBuf,
    #[command(flatten)]
    pub analysis: AnalysisArguments,
    /// The epsilon that is claimed, to be tested
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "X")]
    pub claimed_epsilon: Option<f64>,
    /// The whole trade-off curve that is claimed, to be tested: gdp=MU, the Gaussian curve
    #[arg(long, value_name = "CURVE")]
    pub claimed_curve: Option<String>,
    /// State that a fair coin of its own included each canary in one training; bounds of one-run estimators rest on it
    #[arg(long)]
    pub fair_coins: bool,
    /// Also give the trade-off curve, and test the curve of the claimed epsilon and the one that is claimed as a whole
    #[arg(long)]
    pub trade_off: bool,
    /// Draw the scores of both worlds and the trade-off curve into a file that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct ReproduceArguments {
    /// A table or a figure of the paper, what goes beyond it, or all
    #[arg(value_name = "NAME", value_parser = artefact_names())]
    pub name: String,
    /// Fewer observations, one run: minutes on two cores
    #[arg(long)]
    pub quick: bool,
    /// Runs that means are taken over; as many as the paper's if not given
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "N")]
    pub runs: Option<u64>,
    /// Observations of a run at most; as many as the paper's if not given
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "N")]
    pub observations: Option<u64>,
    /// Play only the rows whose names contain this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// What to compute on; auto takes a CUDA device for long runs, where there is one
    #[arg(long, default_value = "auto", value_parser = one_of::<Device>(), value_name = "NAME")]
    pub device: Device,
    /// The arithmetic of trainings on a CUDA device: tf32 is faster with convolutions
    #[arg(long, default_value = "f32", value_parser = one_of::<Precision>(), value_name = "NAME")]
    pub precision: Precision,
    /// The folder that holds data sets; MISDEAL_DATA if not given
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Save every audit's scores in this folder, at intervals and at the end
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Go on from what the folder of --store holds; finished audits are not played again
    #[arg(long, requires = "store")]
    pub resume: bool,
    /// Draw the numbers into a file that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

fn artefact_names() -> PossibleValuesParser {
    PossibleValuesParser::new(ARTEFACTS.into_iter().chain(["all"]))
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct SelfTestArguments {
    /// What to test; auto is the processor, and CUDA devices where there are any
    #[arg(long, default_value = "auto", value_parser = one_of::<Device>(), value_name = "NAME")]
    pub device: Device,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct ReportArguments {
    /// Results that audit, estimate, account, calibrate, diagnose or reproduce wrote with --format json. --output names the page
    /// (.html), or the figure of one result (.svg or .png); nothing is run again
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct MergeArguments {
    /// The stores to join; --output names the result
    #[arg(required = true, value_name = "STORE")]
    pub stores: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct AccountArguments {
    /// Noise standard deviation divided by the clipping norm
    #[arg(long, allow_hyphen_values = true, default_value = "1.0", value_parser = number, value_name = "S")]
    pub noise_multiplier: f64,
    #[command(flatten)]
    pub shape: ShapeArguments,
    /// The delta at which epsilon is meant
    #[arg(long, allow_hyphen_values = true, default_value = "1e-5", value_parser = number, value_name = "D")]
    pub delta: f64,
    /// A batch scheme, or all
    #[arg(long, default_value = "all", value_name = "NAME")]
    pub scheme: String,
    /// For Poisson sampling alone: the probability that a record is in a batch, with --steps
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "Q", conflicts_with_all = ["scheme", "steps_per_epoch", "epochs"])]
    pub sampling_probability: Option<f64>,
    /// Also bound delta at this epsilon
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "X")]
    pub epsilon: Option<f64>,
    /// Also bound the whole trade-off curve between the two errors of an adversary
    #[arg(long)]
    pub trade_off: bool,
    /// Also say what other methods of the field give
    #[arg(long)]
    pub compare: bool,
    /// For Poisson sampling alone: steps in all epochs together
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "N")]
    pub steps: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct CalibrateArguments {
    /// The epsilon to meet
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "X")]
    pub target_epsilon: f64,
    /// The delta at which epsilon is meant
    #[arg(long, allow_hyphen_values = true, default_value = "1e-5", value_parser = number, value_name = "D")]
    pub delta: f64,
    #[command(flatten)]
    pub shape: ShapeArguments,
    /// How batches are made
    #[arg(long, default_value = "poisson", value_parser = PossibleValuesParser::new(BatchScheme::NAMES), value_name = "NAME")]
    pub scheme: String,
    /// The side of the bound that must meet the target: upper (the noise is enough) or lower (less is not)
    #[arg(long, default_value = "upper", value_parser = one_of::<BoundSide>(), value_name = "SIDE")]
    pub bound: BoundSide,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct DiagnoseArguments {
    /// The batches of record indices that the loader dealt: .jsonl with {"epoch": 0, "batch": [17, 3]} on each line, .npy of shape
    /// (epochs, batches, batch size), or .parquet with the columns epoch, batch and record
    #[arg(value_name = "LOG")]
    pub log: PathBuf,
    /// Records in the data set; one more than the largest index if not given
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "N")]
    pub dataset_size: Option<u64>,
    /// Also say what leaks at this noise (standard deviation divided by the clipping norm)
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "S")]
    pub noise_multiplier: Option<f64>,
    /// The delta at which epsilon is meant
    #[arg(long, allow_hyphen_values = true, default_value = "1e-5", value_parser = number, value_name = "D")]
    pub delta: f64,
    /// Epochs of the whole run, for the leakage; those of the log if not given
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "E")]
    pub epochs: Option<u64>,
    /// Draw position in the file against position in the epoch into a file that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}
