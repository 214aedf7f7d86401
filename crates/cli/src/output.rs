//! Where results go.

use crate::arguments::{CommonArguments, Format};
use crate::failure::Failure;
use crate::json_layout;
use misdeal_files::atomic::write_atomically;
use serde::Serialize;
use std::io::{self, Write};

/// Prints a report as text or as one JSON document, or writes it to `--output`.
pub fn deliver(
    common: &CommonArguments,
    report: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    deliver_document(common, &render(common, report, text))
}

/// Prints what is already laid out, or writes it to `--output`.
pub fn deliver_document(common: &CommonArguments, document: &str) -> Result<(), Failure> {
    match &common.output {
        Some(path) => Ok(write_atomically(path, |sink| sink.write_all(document.as_bytes()))?),
        None => print(document),
    }
}

/// As [`deliver`], for commands whose `--output` is something else.
pub fn print_report(
    common: &CommonArguments,
    report: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    print(&render(common, report, text))
}

fn render(common: &CommonArguments, report: &impl Serialize, text: impl FnOnce() -> String) -> String {
    match common.format {
        Format::Text => text(),
        // The others are refused before any work is done.
        Format::Json | Format::Sarif | Format::Github => json_layout::text(report) + "\n",
    }
}

/// Prints what is already laid out.
pub fn print(document: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(document.as_bytes()) {
        // Whoever closed the pipe has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Failure::run_failed(format!("cannot print the result: {error}"))),
    }
}
