//! One JSON document.

use crate::finding::Level;
use crate::rules::Rule;
use crate::scanning::{Report, Skipped};
use crate::survey::Survey;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a, T: Serialize> {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

#[derive(Serialize)]
struct SurveyDocument<'a> {
    files: usize,
    bytes: u64,
    skipped: &'a [Skipped],
    survey: &'a Survey,
}

#[derive(Serialize)]
struct RulesDocument {
    rules: Vec<RuleEntry>,
}

#[derive(Serialize)]
struct RuleEntry {
    name: &'static str,
    level: Level,
    reach: &'static str,
    finds: &'static str,
    why: &'static str,
    fix: &'static str,
}

/// The report with all findings.
pub fn json(report: &Report) -> String {
    document(report)
}

/// The counts of a survey, without findings.
pub fn survey_json(report: &Report) -> String {
    let Report { files, bytes, skipped, survey, .. } = report;
    document(&SurveyDocument { files: *files, bytes: *bytes, skipped, survey })
}

/// The explanations of rules.
pub fn rules_json(rules: &[Rule]) -> String {
    let entry = |rule: &Rule| {
        let Rule { name, finds, why, fix, reach, level, .. } = *rule;
        RuleEntry { name, level, reach: reach.name(), finds, why, fix }
    };
    document(&RulesDocument { rules: rules.iter().map(entry).collect() })
}

fn document(content: &impl Serialize) -> String {
    let document =
        Document { schema_version: 1, command: "scan", version: env!("CARGO_PKG_VERSION"), content };
    serde_json::to_string_pretty(&document).expect("reports have only numbers and names") + "\n"
}
