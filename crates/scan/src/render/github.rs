//! Annotations in the syntax of GitHub's workflow commands.

use crate::scanning::Report;
use misdeal_results::Level;
use std::fmt::Write;

/// Returns one workflow command for each finding.
pub fn github(report: &Report) -> String {
    let mut lines = String::new();
    for finding in &report.findings {
        let command = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let message = format!("{}\nFix: {}", finding.message, finding.fix);
        // A column in a notebook's cell is not a column of the file, so it is left out.
        let column = if finding.cell.is_none() { format!(",col={}", finding.column) } else { String::new() };
        let _ = writeln!(
            lines,
            "::{command} file={},line={}{column},title={}::{}",
            property(&finding.path),
            finding.line,
            property(&format!("misdeal: {}", finding.rule)),
            data(&message),
        );
    }
    lines
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_is_escaped() {
        assert_eq!(property("a,b:c%\n"), "a%2Cb%3Ac%25%0A");
        assert_eq!(data("a,b:c%\r\n"), "a,b:c%25%0D%0A");
    }
}
