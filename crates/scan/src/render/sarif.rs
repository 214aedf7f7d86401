//! SARIF 2.1.0, the format of code scanning services.

use crate::rules::RULES;
use crate::scanning::Report;
use misdeal_results::{Finding, Skipped};
use serde_json::{Value, json};
use std::fmt::Write;

/// The report as a SARIF log with one run.
pub fn sarif(report: &Report) -> String {
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "misdeal", "version": env!("CARGO_PKG_VERSION"), "rules": rules()}},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": report.skipped.iter().chain(&report.partly_read).map(notification).collect::<Vec<_>>(),
            }],
            "results": report.findings.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    format!("{log:#}\n")
}

fn rules() -> Vec<Value> {
    let rules = RULES.iter().map(|rule| {
        json!({
            "id": rule.name,
            "shortDescription": {"text": rule.finds},
            "fullDescription": {"text": rule.why},
            "help": {"text": rule.fix},
            "helpUri": rule.page(),
            "defaultConfiguration": {"level": rule.level.name()},
        })
    });
    rules.collect()
}

fn result(finding: &Finding) -> Value {
    let mut region = json!({"startLine": finding.line});
    let mut message = format!("{}. Fix: {}.", finding.message, finding.fix);
    match (finding.cell, finding.cell_line) {
        // A column in a cell's line is not a column of the notebook's file, so it is left out.
        (Some(cell), Some(line)) => {
            let _ = write!(message, " (cell {cell}, line {line})");
        }
        _ => region["startColumn"] = json!(finding.column),
    }
    json!({
        "ruleId": finding.rule,
        "ruleIndex": RULES.iter().position(|rule| rule.name == finding.rule),
        "level": finding.level.name(),
        "message": {"text": message},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(&finding.path)}, "region": region}}],
    })
}

fn notification(skipped: &Skipped) -> Value {
    json!({
        "level": "note",
        "message": {"text": format!("not scanned: {}", skipped.reason)},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(&skipped.path)}}}],
    })
}

/// A path as a URI reference; relative paths stay relative.
fn uri(path: &str) -> String {
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("a b/ü.py"), "a%20b/%C3%BC.py");
        assert_eq!(uri("/x/y.py"), "file:///x/y.py");
    }
}
