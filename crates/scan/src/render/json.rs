//! One JSON document.

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

/// The report with all findings.
pub fn json(report: &Report) -> String {
    document(report)
}

/// The counts of a survey, without findings.
pub fn survey_json(report: &Report) -> String {
    let Report { files, bytes, skipped, survey, .. } = report;
    document(&SurveyDocument { files: *files, bytes: *bytes, skipped, survey })
}

fn document(content: &impl Serialize) -> String {
    let document =
        Document { schema_version: 1, command: "scan", version: env!("CARGO_PKG_VERSION"), content };
    serde_json::to_string_pretty(&document).expect("reports have only numbers and names") + "\n"
}
