//! The contents of JSON documents.

use crate::rules::Rule;
use crate::scanning::Report;
use misdeal_results::{Document, RuleEntry, Scan};

/// The report with all findings.
pub fn document(report: Report) -> Document {
    let Report { files, bytes, skipped, partly_read, findings, .. } = report;
    let (files, bytes, skipped) = (Some(files), Some(bytes), Some(skipped));
    let partly_read = Some(partly_read);
    Scan { files, bytes, skipped, partly_read, findings: Some(findings), ..Scan::default() }.into()
}

/// The counts of a survey, without findings.
pub fn survey_document(report: Report) -> Document {
    let Report { files, bytes, skipped, partly_read, survey, .. } = report;
    let (files, bytes, skipped) = (Some(files), Some(bytes), Some(skipped));
    let partly_read = Some(partly_read);
    Scan { files, bytes, skipped, partly_read, survey: Some(survey), ..Scan::default() }.into()
}

/// The descriptions of some rules.
pub fn rules_document(rules: &[Rule]) -> Document {
    let entry = |rule: &Rule| {
        let Rule { name, finds, why, fix, reach, level, .. } = *rule;
        let [name, reach, finds, why, fix] = [name, reach.name(), finds, why, fix].map(str::to_owned);
        RuleEntry { name, level, reach, finds, why, fix }
    };
    Scan { rules: Some(rules.iter().map(entry).collect()), ..Scan::default() }.into()
}
