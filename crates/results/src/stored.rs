//! Reads stored documents.

use crate::version_1;
use crate::{Audit, Document, Judged, SCHEMA_VERSION, Verdict};
use misdeal_statistics::EpsilonEstimate;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The error for a document that misdeal did not write, or that is incomplete.
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

/// A document, its name and the version of misdeal that wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The document's name for people.
    pub name: String,
    /// The version of misdeal that wrote it.
    pub version: String,
    /// The contents.
    pub document: Document,
}

impl Stored {
    /// Wraps a result that this program just computed.
    pub fn of(document: Document) -> Self {
        Stored { name: "this result".into(), version: env!("CARGO_PKG_VERSION").into(), document }
    }

    /// Reads a document of this version or of an earlier one.
    ///
    /// Unknown fields are ignored, so later versions may add fields.
    ///
    /// # Errors
    /// Fails if the text is not JSON, or comes from another program or a later version. Also fails if a field is missing or wrong.
    pub fn parse(name: &str, text: &str) -> Result<Self, Unreadable> {
        const HINT: &str = "give results that misdeal wrote with --format json";
        let unreadable =
            |problem: String| Unreadable { name: name.into(), problem: one_line(&problem), hint: HINT };
        let not_json = |why: &str| unreadable(format!("it is not a result in JSON ({why})"));
        let mut fields: Value = serde_json::from_str(text).map_err(|error| not_json(&error.to_string()))?;
        if !fields.is_object() {
            return Err(not_json("it is no object"));
        }
        let command = fields["command"].as_str().map(str::to_owned);
        let (Some(schema_version), Some(command)) = (fields["schema_version"].as_u64(), command) else {
            return Err(unreadable("it has no schema_version and command".into()));
        };
        match schema_version {
            1 => version_1::upgrade(&command, &mut fields),
            2 => {}
            version => {
                let problem = format!(
                    "its schema_version is {version}, and 1 to {SCHEMA_VERSION} are what is read here"
                );
                return Err(unreadable(problem));
            }
        }
        let version = fields["version"].as_str().unwrap_or_default().to_owned();
        let document = read(&command, fields).map_err(|problem| unreadable(problem.0))?;
        Ok(Stored { name: name.into(), version, document })
    }
}

/// Says what is wrong with a document.
struct Problem(String);

fn read(command: &str, fields: Value) -> Result<Document, Problem> {
    fn whole<T: DeserializeOwned>(command: &str, fields: Value) -> Result<T, Problem> {
        serde_json::from_value(fields).map_err(|error| not_whole(command, &error.to_string()))
    }
    fn not_whole(command: &str, why: &str) -> Problem {
        Problem(format!("its {command} is not whole ({why})"))
    }
    Ok(match command {
        "audit mechanism" => Document::AuditMechanism(whole(command, fields)?),
        "audit training" => {
            let audit: Box<Audit> = whole(command, fields)?;
            // What is flattened and does not fit reads as absent.
            if audit.training.is_none() {
                return Err(not_whole(command, "it lacks what was trained"));
            }
            Document::AuditTraining(audit)
        }
        "judge outputs" => Document::JudgeOutputs(whole(command, fields)?),
        "check-up" => Document::CheckUp(whole(command, fields)?),
        "estimate" => {
            let found: Box<crate::Estimation> = whole(command, fields)?;
            if found.estimate.is_none() && found.estimates.is_empty() {
                return Err(not_whole(command, "it lacks an estimate"));
            }
            Document::Estimate(found)
        }
        "account" => Document::Account(whole(command, fields)?),
        "calibrate" if fields.get("schemes").is_some() => Document::CalibrateAll(whole(command, fields)?),
        "calibrate" => Document::Calibrate(whole(command, fields)?),
        "check" => Document::Check(whole(command, fields)?),
        "sweep" => Document::Sweep(whole(command, fields)?),
        "deal" => Document::Deal(whole(command, fields)?),
        "diagnose" => Document::Diagnose(whole(command, fields)?),
        "reproduce" => Document::Reproduce(whole(command, fields)?),
        "merge" => Document::Merge(whole(command, fields)?),
        "scan" => Document::Scan(whole(command, fields)?),
        "devices" => Document::Devices(whole(command, fields)?),
        "self-test" => Document::SelfTest(whole(command, fields)?),
        "report" => Document::Report(whole(command, fields)?),
        other => {
            let other: String = other.chars().take(60).collect();
            return Err(Problem(format!("it is a result of \"{other}\", which is no command here")));
        }
    })
}

/// Returns the verdict of an estimate in JSON that is not part of a document.
///
/// # Errors
/// Fails if the text is not an estimate in JSON.
pub fn verdict_of_estimate(text: &str) -> Result<Verdict, Unreadable> {
    let estimate: EpsilonEstimate = serde_json::from_str(text).map_err(|error| Unreadable {
        name: "this estimate".into(),
        problem: one_line(&error.to_string()),
        hint: "give the estimate of a store",
    })?;
    Ok(Judged::of(&estimate, None).verdict(None, [None, None]))
}

/// Puts a message on one line, because quotes from a document may contain line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
