//! The command line, defined once: help and parsing come from here.

mod audits;
mod scan;

pub use audits::{MechanismArguments, OutcomeArguments, TrainingArguments};
pub use scan::ScanArguments;

use crate::environment::Environment;
use crate::failure::Failure;
use clap::{Args, Parser, Subcommand, ValueEnum};
use misdeal::request::{
    AccountRequest, CalibrateRequest, CheckRequest, DealRequest, DiagnoseRequest, EstimateRequest,
    MergeRequest, ReproduceRequest, SelfTestRequest, SweepRequest, count,
};
use std::path::{Path, PathBuf};

/// What exit codes mean, below every command's help.
pub const EXIT_CODES: &str = "Exit codes: 0 done; 1 done, and the answer is the bad news that was asked for (--check, findings of scan, a failed self-test); \
    2 bad usage or bad input; 3 the run itself failed; 130 and 143 interrupted.";

/// Tells whether the way training data is shuffled voids the privacy guarantee that a DP-SGD model claims.
///
/// Without a command it checks and audits the default setting: full shuffling, noise multiplier 1, 100 steps, one epoch.
#[derive(Debug, Parser)]
#[command(name = "misdeal", version, subcommand_precedence_over_arg = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub common: CommonArguments,
}

#[derive(Debug, Args)]
pub struct CommonArguments {
    /// Print for people (text, the default), or one JSON document (json, the default with -o FILE.json); sarif and github (workflow
    /// annotations) are for scan alone
    #[arg(long, global = true, value_enum, help_heading = "Common options")]
    pub format: Option<Format>,
    /// Write the result here instead of to standard output
    #[arg(long, short, global = true, value_name = "FILE", help_heading = "Common options")]
    pub output: Option<PathBuf>,
    /// Seed of all randomness; 0 if not given, but a secret one for deal
    #[arg(long, global = true, allow_hyphen_values = true, value_parser = count, help_heading = "Common options")]
    pub seed: Option<u64>,
    /// Threads to use; all cores if not given
    #[arg(long, global = true, allow_hyphen_values = true, value_parser = count, help_heading = "Common options")]
    pub threads: Option<u64>,
    /// No progress and no remarks
    #[arg(long, global = true, help_heading = "Common options")]
    pub quiet: bool,
    /// Colour the verdict
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = "Common options")]
    pub color: Color,
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

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl CommonArguments {
    /// The seed of jobs whose randomness is no secret.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// How results are printed: as was asked for, else by the ending of the output.
    pub fn format(&self) -> Format {
        self.format.unwrap_or(Format::Text)
    }

    /// Takes the format from the ending of the output, where none was asked for.
    pub fn take_format_from_output(&mut self) {
        let ending = self.output.as_deref().and_then(Path::extension);
        if self.format.is_none() && ending.is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
            self.format = Some(Format::Json);
        }
    }

    /// Refuses an output that cannot be written. It is called before any work is done. Only a store may replace a store.
    pub fn check_output(&self, is_store: bool) -> Result<(), Failure> {
        let Some(path) = self.output.as_deref() else { return Ok(()) };
        misdeal_files::atomic::check_place(path)?;
        Ok(if is_store { Ok(()) } else { misdeal_files::stores::check_is_no_store(path) }?)
    }

    /// Refuses the formats that are for findings alone.
    pub fn check_format(&self) -> Result<(), Failure> {
        match self.format() {
            Format::Text | Format::Json => Ok(()),
            Format::Sarif | Format::Github => {
                Err(self.refuse_format("text or json", "only scan has findings to annotate"))
            }
        }
    }

    /// Refuses every format except text. Commands that print a script or a manual page call it.
    pub fn check_is_text(&self) -> Result<(), Failure> {
        match self.format() {
            Format::Text => Ok(()),
            _ => Err(self.refuse_format("text", "this is a script or a page, no result")),
        }
    }

    /// The failure for a format that makes no sense here.
    pub fn refuse_format(&self, allowed: &'static str, hint: &'static str) -> Failure {
        let format =
            self.format().to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        misdeal_core::Error::bad_value("format", format, allowed, hint).into()
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
    /// From a model card to a verdict: what is claimed, what is proven, and what would keep the claim
    Check(Box<CheckArguments>),
    /// A model card over a range of one or two fields: claimed against proven epsilon at each point
    Sweep(Box<SweepArguments>),
    /// Play the distinguishing game and bound the leakage from below
    #[command(arg_required_else_help = false)]
    Audit {
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// Turn scores from anywhere into an epsilon
    Estimate(EstimateArguments),
    /// Join the shards of a run into one store
    Merge(MergeRequest),
    /// What theory says, scheme by scheme
    Account(AccountArguments),
    /// The noise for a target epsilon under a scheme
    Calibrate(CalibrateRequest),
    /// Batches that keep the promise, written as a plan, with the epsilon that goes with them
    Deal(DealRequest),
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
    SelfTest(SelfTestRequest),
    /// A script that completes commands and flags in a shell
    Completions(CompletionsArguments),
    /// The manual page of the program; with --output, a folder: the pages of all commands
    Man,
}

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Clone, Default, Args)]
pub struct CheckArguments {
    #[command(flatten)]
    pub request: CheckRequest,
    /// Exit with 1 if a valid bound refutes a claim
    #[arg(long)]
    pub check: bool,
    /// Also write a page for whoever decides, into a file that ends in .html
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Draw claims beside proven bounds into a file that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// The title of the page; the training if not given
    #[arg(long, value_parser = page_words, value_name = "TEXT", requires = "report")]
    pub title: Option<String>,
    /// The date on the page; today's in UTC if not given
    #[arg(long, value_parser = page_words, value_name = "TEXT", requires = "report")]
    pub date: Option<String>,
}

#[derive(Debug, Clone, Args)]
#[command(after_help = EXIT_CODES)]
pub struct SweepArguments {
    #[command(flatten)]
    pub request: SweepRequest,
    /// Exit with 1 if a valid bound refutes the claim at any point
    #[arg(long)]
    pub check: bool,
    /// Also write a page into a file that ends in .html
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Draw claimed against proven epsilon into a file that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// The title of the page; the sweep if not given
    #[arg(long, value_parser = page_words, value_name = "TEXT", requires = "report")]
    pub title: Option<String>,
    /// The date on the page; today's in UTC if not given
    #[arg(long, value_parser = page_words, value_name = "TEXT", requires = "report")]
    pub date: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// The batched Gaussian mechanism, the paper's Algorithm 5
    Mechanism(Box<MechanismArguments>),
    /// DP-SGD on real data and models, the paper's Algorithm 2
    Training(Box<TrainingArguments>),
}

#[derive(Debug, Args)]
pub struct AccountArguments {
    #[command(flatten)]
    pub request: AccountRequest,
    /// Exit with 1 if a proven bound refutes the claim
    #[arg(long)]
    pub check: bool,
    /// Draw the bounds of each scheme, or with --trade-off its curve, into a file that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct EstimateArguments {
    #[command(flatten)]
    pub request: EstimateRequest,
    /// Exit with 1 if a valid bound refutes the claim
    #[arg(long)]
    pub check: bool,
    /// Draw the scores of both worlds and the trade-off curve into a file that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ReproduceArguments {
    #[command(flatten)]
    pub request: ReproduceRequest,
    /// Draw the numbers into a file that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct DiagnoseArguments {
    #[command(flatten)]
    pub request: DiagnoseRequest,
    /// Exit with 1 if a bound refutes the epsilon that Poisson sampling would justify
    #[arg(long)]
    pub check: bool,
    /// Draw position in the file against position in the epoch into a file that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Results that audit, estimate, account, calibrate, diagnose or reproduce wrote with --format json. --output names the page
    /// (.html), or the figure of one result (.svg or .png); nothing is run again
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// The title of the page; what was found if not given
    #[arg(long, value_parser = page_words, value_name = "TEXT")]
    pub title: Option<String>,
    /// The model or the project that the page is about
    #[arg(long, value_parser = page_words, value_name = "TEXT")]
    pub name: Option<String>,
    /// The date on the page; today's in UTC if not given
    #[arg(long, value_parser = page_words, value_name = "TEXT")]
    pub date: Option<String>,
}

/// Words that fit the head of a page.
fn page_words(text: &str) -> Result<String, String> {
    const MOST: usize = 200;
    if text.trim().is_empty() || text.chars().nth(MOST).is_some() {
        return Err(format!("allowed are 1 to {MOST} characters"));
    }
    Ok(text.to_owned())
}
