//! [`Document`]: the result of any command.

use crate::{
    Account, Audit, Calibration, Calibrations, CheckUp, Checked, DealtPlan, Devices, Diagnosed, Estimation,
    LaidOut, Merged, Outputs, Reproduction, Scan, SelfTest, Swept, Verdict, json_layout,
};
use serde::Serialize;
use strum::IntoStaticStr;

/// The version of the document format that misdeal writes.
pub const SCHEMA_VERSION: u32 = 2;

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Serialize, IntoStaticStr)]
#[serde(untagged)]
#[strum(serialize_all = "kebab-case")]
pub enum Document {
    /// An audit of the mechanism.
    #[strum(serialize = "audit mechanism")]
    AuditMechanism(Box<Audit>),
    /// An audit of model training.
    #[strum(serialize = "audit training")]
    AuditTraining(Box<Audit>),
    /// The verdict on outputs of the user's own training code.
    #[strum(serialize = "judge outputs")]
    JudgeOutputs(Box<Outputs>),
    /// A check-up of the user's own training code.
    #[strum(serialize = "check-up")]
    CheckUp(CheckUp),
    /// An epsilon estimated from scores.
    Estimate(Box<Estimation>),
    /// Theory's bounds on epsilon, by scheme.
    Account(Account),
    /// The noise that one scheme needs for a target epsilon.
    Calibrate(Calibration),
    /// The noise that each scheme needs for a target epsilon.
    #[strum(serialize = "calibrate")]
    CalibrateAll(Box<Calibrations>),
    /// Model cards with their verdicts.
    Check(Checked),
    /// A model card checked over ranges of its fields.
    Sweep(Swept),
    /// A plan of batches, and the epsilon that goes with it.
    Deal(Box<DealtPlan>),
    /// The scheme that most likely made a log's batches.
    Diagnose(Box<Diagnosed>),
    /// The paper's numbers beside ours.
    Reproduce(Reproduction),
    /// A report on shards that were merged into one store.
    Merge(Merged),
    /// Sampling mistakes found in source files.
    Scan(Scan),
    /// The devices that misdeal can compute on.
    Devices(Devices),
    /// Checks of this machine's results against known values.
    SelfTest(SelfTest),
    /// A report on a page or drawing that was written to a file.
    Report(LaidOut),
}

/// A document in JSON form, with its schema version, command and verdict.
#[derive(Serialize)]
struct Envelope<'a> {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    #[serde(flatten)]
    document: &'a Document,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
}

impl Document {
    /// Returns the name of the command that produces this document.
    pub fn command(&self) -> &'static str {
        self.into()
    }

    /// Returns the verdict on the claim; `None` for results that cannot be compared with a claim.
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::AuditMechanism(audit) | Self::AuditTraining(audit) => Some(audit.verdict()),
            Self::JudgeOutputs(outputs) => Some(outputs.verdict()),
            Self::Estimate(found) => Some(found.verdict()),
            Self::Account(found) => Some(found.verdict()),
            Self::Calibrate(found) => Some(found.verdict()),
            Self::CalibrateAll(found) => Some(found.verdict()),
            Self::Check(found) => Some(found.verdict()),
            Self::Sweep(found) => Some(found.verdict()),
            Self::Diagnose(found) => Some(found.verdict()),
            Self::CheckUp(_)
            | Self::Deal(_)
            | Self::Reproduce(_)
            | Self::Merge(_)
            | Self::Scan(_)
            | Self::Devices(_)
            | Self::SelfTest(_)
            | Self::Report(_) => None,
        }
    }

    /// Returns the document as JSON, with one line per field and each list on one line.
    pub fn to_json(&self) -> String {
        json_layout::text(&Envelope {
            schema_version: SCHEMA_VERSION,
            command: self.command(),
            version: env!("CARGO_PKG_VERSION"),
            document: self,
            verdict: self.verdict(),
        })
    }
}

/// Converts an audit: to `AuditTraining` if it trained models, else to `AuditMechanism`.
impl From<Audit> for Document {
    fn from(audit: Audit) -> Self {
        if audit.training.is_some() {
            Self::AuditTraining(Box::new(audit))
        } else {
            Self::AuditMechanism(Box::new(audit))
        }
    }
}

/// Implements `From` for results that belong to one variant only.
macro_rules! documents {
    ($($content:ident => $variant:expr),* $(,)?) => {
        $(
            impl From<$content> for Document {
                fn from(content: $content) -> Self {
                    $variant(content.into())
                }
            }
        )*
    };
}

documents! {
    Outputs => Self::JudgeOutputs,
    CheckUp => Self::CheckUp,
    Estimation => Self::Estimate,
    Account => Self::Account,
    Calibration => Self::Calibrate,
    Calibrations => Self::CalibrateAll,
    Checked => Self::Check,
    Swept => Self::Sweep,
    DealtPlan => Self::Deal,
    Diagnosed => Self::Diagnose,
    Reproduction => Self::Reproduce,
    Merged => Self::Merge,
    Scan => Self::Scan,
    Devices => Self::Devices,
    SelfTest => Self::SelfTest,
    LaidOut => Self::Report,
}
