//! Results as they were stored: the JSON documents that misdeal's commands write, read as far as pages show them.
//!
//! Fields that nobody shows are ignored, so that documents may grow; fields that are shown must be there and be what they
//! say, or the document is refused.

mod account;
mod audit;
mod diagnosis;
mod estimate;
mod histogram;
mod reproduction;

pub use account::{Account, Calibration};
pub use audit::{Audit, BufferGuesses, Outputs, Spread, Training};
pub use diagnosis::{Diagnosed, Leaking, Parameters};
pub use estimate::{Describing, Estimate, Estimation, Observed, TradeOff};
pub use reproduction::{AboveCount, AboveTheClaim, Dealt, Heading, Reproduced, Reproduction};

use misdeal_core::Bounds;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The version of documents that can be read.
const SCHEMA_VERSION: u64 = 1;

/// Theory's bounds, by scheme.
pub type Theory = BTreeMap<String, Bounds>;

/// A document that is none of ours, or not a whole one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {problem}; {hint}")]
pub struct Unreadable {
    /// The document's name.
    pub name: String,
    /// What is wrong with it, and where.
    pub problem: String,
    /// What the user can do.
    pub hint: &'static str,
}

/// What a document holds.
#[derive(Debug, Clone)]
pub enum Content {
    /// `audit mechanism` or `audit training`.
    Audit(Box<Audit>),
    /// Outputs of somebody's own training, judged.
    Outputs(Outputs),
    /// `estimate`.
    Estimation(Box<Estimation>),
    /// `account`.
    Account(Account),
    /// `calibrate`.
    Calibration(Calibration),
    /// `diagnose`.
    Diagnosed(Box<Diagnosed>),
    /// `reproduce`.
    Reproduction(Reproduction),
}

/// A document with where it came from.
#[derive(Debug, Clone)]
pub struct StoredResult {
    /// The document's name, as it is shown.
    pub name: String,
    /// The command that wrote it.
    pub command: String,
    /// The version of misdeal that wrote it.
    pub version: String,
    /// What it holds.
    pub content: Content,
}

#[derive(Deserialize)]
struct Head {
    schema_version: Option<u64>,
    command: Option<String>,
    #[serde(default)]
    version: String,
}

impl StoredResult {
    /// The document of a result that was just found.
    ///
    /// # Errors
    /// A result of a command whose documents are not read here.
    pub fn of(result: &impl Serialize) -> Result<Self, Unreadable> {
        let name = "this result";
        let text = serde_json::to_string(result).map_err(|error| Unreadable {
            name: name.into(),
            problem: error.to_string(),
            hint: "tell its makers, please",
        })?;
        Self::parse(name, &text)
    }

    /// Reads a document.
    ///
    /// # Errors
    /// Text that is not JSON, a document of another program or version, or a field that is missing or not what it should be.
    pub fn parse(name: &str, text: &str) -> Result<Self, Unreadable> {
        const HINT: &str = "give results that misdeal wrote with --format json";
        let unreadable =
            |problem: String| Unreadable { name: name.into(), problem: one_line(&problem), hint: HINT };
        let head: Head = serde_json::from_str(text)
            .map_err(|error| unreadable(format!("it is not a result in JSON ({error})")))?;
        let (Some(version), Some(command)) = (head.schema_version, head.command) else {
            return Err(unreadable("it has no schema_version and command".into()));
        };
        if version != SCHEMA_VERSION {
            let problem =
                format!("its schema_version is {version}, and {SCHEMA_VERSION} is what is read here");
            return Err(unreadable(problem));
        }
        let content = match command.as_str() {
            "audit mechanism" | "audit training" => read(text).map(Content::Audit),
            "judge outputs" => read(text).map(Content::Outputs),
            "estimate" => read(text).map(Content::Estimation),
            "account" => read(text).map(Content::Account),
            "calibrate" => read(text).map(Content::Calibration),
            "diagnose" => read(text).map(Content::Diagnosed),
            "reproduce" => read(text).map(Content::Reproduction),
            other => {
                return Err(unreadable(format!(
                    "it is a result of \"{}\", which has no page",
                    other.chars().take(60).collect::<String>()
                )));
            }
        };
        let content = content.map_err(|error| unreadable(format!("its {command} is not whole ({error})")))?;
        // What is flattened and does not fit reads as absent.
        let lacking = match &content {
            Content::Audit(audit) if command == "audit training" && audit.training.is_none() => {
                "what was trained"
            }
            Content::Estimation(found) if found.estimate.is_none() && found.estimates.is_empty() => {
                "an estimate"
            }
            _ => "",
        };
        if !lacking.is_empty() {
            return Err(unreadable(format!("its {command} is not whole (it lacks {lacking})")));
        }
        Ok(StoredResult { name: name.into(), command, version: head.version, content })
    }
}

fn read<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text)
}

/// A number that is infinite where the document has none, as JSON cannot say so.
fn infinite_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

/// What a message says, without the line breaks that a document's words may bring along.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
