//! Prints results, or writes them to files.

use crate::arguments::{CommonArguments, Format};
use crate::failure::Failure;
use crate::style;
use crate::text;
use misdeal_core::{is_hidden, printable, printable_lines};
use misdeal_files::atomic::write_atomically;
use misdeal_results::{Document, Verdict};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// Prints a result as text or as one JSON document, or writes it to `--output`.
pub fn deliver(common: &CommonArguments, document: &Document) -> Result<(), Failure> {
    let verdict = document.verdict();
    let text = render(common, document);
    match &verdict {
        // Colours are for terminals, and files are read by others.
        Some(verdict)
            if common.output.is_none() && common.format() == Format::Text && style::has_colours(common) =>
        {
            print(common, &style::with_colours(&text, verdict.kind))
        }
        _ => deliver_text(common, &text, verdict.as_ref()),
    }
}

/// Prints finished text, or writes it to `--output` and says so.
pub fn deliver_text(common: &CommonArguments, text: &str, verdict: Option<&Verdict>) -> Result<(), Failure> {
    let Some(path) = &common.output else { return print(common, text) };
    write_atomically(path, |sink| sink.write_all(text.as_bytes()))?;
    let what = if common.format() == Format::Text { "text" } else { "JSON" };
    tell_written(common, path, what, verdict);
    Ok(())
}

/// Prints one line on standard error: the file's path, its contents and the verdict.
pub fn tell_written(common: &CommonArguments, path: &Path, what: &str, verdict: Option<&Verdict>) {
    if common.quiet {
        return;
    }
    let path = misdeal_core::printable_path(path);
    let verdict =
        verdict.map_or(String::new(), |verdict| format!(" Verdict: {}", printable(&verdict.sentence)));
    common.environment.tell(&format!("Wrote {path} ({what}).{verdict}"));
}

/// Prints a result, also if `--output` is set.
///
/// This is for commands that write something else to `--output`.
pub fn print_document(common: &CommonArguments, document: &Document) -> Result<(), Failure> {
    print(common, &render(common, document))
}

fn render(common: &CommonArguments, document: &Document) -> String {
    match common.format() {
        Format::Text => for_people(&text::document(document, &common.environment)),
        // The others are refused before any work is done.
        Format::Json | Format::Sarif | Format::Github => for_programs(document.to_json() + "\n"),
    }
}

/// Returns text that is safe to print, even if parts come from untrusted files.
///
/// No part can move the cursor, reverse letters, or send commands to a build server.
pub fn for_people(text: &str) -> String {
    let lines = for_workflows(text);
    let is_command = |line: &str| line.trim_start().starts_with("::");
    if !lines.lines().any(is_command) {
        return lines;
    }
    let quiet =
        |line: &str| if is_command(line) { line.replacen("::", ":\\u{3a}", 1) } else { line.to_owned() };
    lines.split('\n').map(quiet).collect::<Vec<_>>().join("\n")
}

/// Like [`for_people`], but lines may begin with commands of a GitHub workflow.
pub fn for_workflows(text: &str) -> String {
    // The older form of such commands counts anywhere in a line.
    printable_lines(text).replace("##[", "#\\u{23}[")
}

/// Returns JSON with hidden characters and older workflow commands escaped.
///
/// The JSON still parses to the same value.
pub fn for_programs(json: String) -> String {
    let is_escaped = |c| is_hidden(c) && c != '\n';
    if !json.contains(is_escaped) && !json.contains("##[") {
        return json;
    }
    let mut shown = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if is_escaped(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown.replace("##[", "#\\u0023[")
}

/// Prints finished text.
pub fn print(common: &CommonArguments, text: &str) -> Result<(), Failure> {
    match common.environment.print(text) {
        // Whoever closed the pipe has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Failure::run_failed(format!("cannot print the result: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_a_command() {
        let text = "a\tb\n  ::error::x\n::stop\n1 ##[error]y \u{1b}[2J\r\n";
        assert_eq!(
            for_people(text),
            "a\tb\n  :\\u{3a}error::x\n:\\u{3a}stop\n1 #\\u{23}[error]y \\u{1b}[2J\\r\n"
        );
        assert_eq!(for_people("std::f 12::\n"), "std::f 12::\n");
        assert_eq!(for_workflows("::error file=a::b\n"), "::error file=a::b\n");
    }

    #[test]
    fn json_hides_nothing_and_reads_back() {
        let document = serde_json::json!({ "a\u{202e}": "b\u{9b}\u{7f}\u{85}\u{2028}\u{feff}\u{e0041}\n\u{1b}\"é ###[error]" });
        let shown = for_programs(serde_json::to_string_pretty(&document).unwrap());
        assert!(shown.contains("a\\u202e") && shown.contains("\\udb40\\udc41"), "{shown}");
        assert!(!shown.contains(|c| is_hidden(c) && c != '\n') && !shown.contains("##["), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), document);
    }
}
