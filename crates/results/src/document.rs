//! What commands give.

use crate::{
    Account, Audit, Calibration, Calibrations, Checked, Devices, Diagnosed, Estimation, LaidOut, Merged,
    Outputs, Reproduction, Scan, SelfTest, Swept, Verdict, json_layout,
};
use serde::Serialize;
use strum::IntoStaticStr;

/// The version of the documents that are written.
pub const SCHEMA_VERSION: u32 = 2;

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Serialize, IntoStaticStr)]
#[serde(untagged)]
#[strum(serialize_all = "kebab-case")]
pub enum Document {
    /// An audit of the mechanism.
    #[strum(serialize = "audit mechanism")]
    AuditMechanism(Box<Audit>),
    /// An audit of training.
    #[strum(serialize = "audit training")]
    AuditTraining(Box<Audit>),
    /// Outputs of somebody's own training, judged.
    #[strum(serialize = "judge outputs")]
    JudgeOutputs(Box<Outputs>),
    /// Scores turned into an epsilon.
    Estimate(Box<Estimation>),
    /// What theory says.
    Account(Account),
    /// The noise that a target needs.
    Calibrate(Calibration),
    /// The noise that a target needs, scheme by scheme.
    #[strum(serialize = "calibrate")]
    CalibrateAll(Box<Calibrations>),
    /// Model cards with their verdicts.
    Check(Checked),
    /// A model card over a range of fields.
    Sweep(Swept),
    /// Which scheme made the batches of a log.
    Diagnose(Box<Diagnosed>),
    /// The paper beside ours.
    Reproduce(Reproduction),
    /// Shards merged to one store.
    Merge(Merged),
    /// Sampling mistakes in sources.
    Scan(Scan),
    /// What there is to compute on.
    Devices(Devices),
    /// Whether this machine computes right.
    SelfTest(SelfTest),
    /// A page or a drawing.
    Report(LaidOut),
}

/// A document as JSON has it.
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
    /// The command that gives it.
    pub fn command(&self) -> &'static str {
        self.into()
    }

    /// What follows for a claim, of results that can be set against one.
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
            Self::Reproduce(_)
            | Self::Merge(_)
            | Self::Scan(_)
            | Self::Devices(_)
            | Self::SelfTest(_)
            | Self::Report(_) => None,
        }
    }

    /// The document as JSON: a line for each field, and lists on one line.
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

/// An audit is one of training if anything was trained.
impl From<Audit> for Document {
    fn from(audit: Audit) -> Self {
        if audit.training.is_some() {
            Self::AuditTraining(Box::new(audit))
        } else {
            Self::AuditMechanism(Box::new(audit))
        }
    }
}

/// Results that are the content of one command's documents.
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
    Estimation => Self::Estimate,
    Account => Self::Account,
    Calibration => Self::Calibrate,
    Calibrations => Self::CalibrateAll,
    Checked => Self::Check,
    Swept => Self::Sweep,
    Diagnosed => Self::Diagnose,
    Reproduction => Self::Reproduce,
    Merged => Self::Merge,
    Scan => Self::Scan,
    Devices => Self::Devices,
    SelfTest => Self::SelfTest,
    LaidOut => Self::Report,
}
