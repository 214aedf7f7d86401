//! The flags of both audits.

use clap::Args;
use misdeal::request::{AuditMechanismRequest, AuditTrainingRequest};
use std::path::PathBuf;

#[derive(Debug, Clone, Default, Args)]
pub struct MechanismArguments {
    #[command(flatten)]
    pub request: AuditMechanismRequest,
    #[command(flatten)]
    pub outcome: OutcomeArguments,
}

#[derive(Debug, Clone, Args)]
pub struct TrainingArguments {
    #[command(flatten)]
    pub request: AuditTrainingRequest,
    #[command(flatten)]
    pub outcome: OutcomeArguments,
}

/// What becomes of an audit's result.
#[derive(Debug, Clone, Default, Args)]
pub struct OutcomeArguments {
    /// Exit with 1 if a valid bound refutes the claim
    #[arg(long)]
    pub check: bool,
    /// Draw the scores of both worlds and the trade-off curve into a file that ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}
