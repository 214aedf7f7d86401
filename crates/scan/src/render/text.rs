//! Findings as text for people.

use crate::rules::{RULES, Reach, Rule};
use crate::scanning::Report;
use misdeal_core::{printable, printable_lines};
use misdeal_results::{Count, Finding, PipelineOrder};
use std::fmt::Write;

/// Findings with their lines of code, and a summary.
pub fn text(report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        write_finding(&mut text, finding);
    }
    if report.scanned == 0 {
        text += "0 files scanned";
        if report.files == 0 {
            text += ": there is no Python file or notebook, or all are excluded or ignored by git";
        }
        return text + "\n";
    }
    let files = number(report.scanned, "file");
    let mut paths: Vec<&str> = report.findings.iter().map(|finding| finding.path.as_str()).collect();
    paths.dedup();
    if report.findings.is_empty() {
        let _ = write!(text, "No sampling mistakes found in {files}");
    } else {
        let found = number(report.findings.len(), "finding");
        let _ = write!(text, "{found} in {} of {files}", paths.len());
    }
    if !report.skipped.is_empty() {
        let _ = write!(text, "; {} not scanned", number(report.skipped.len(), "file or cell"));
    }
    text + "\n"
}

fn write_finding(text: &mut String, finding: &Finding) {
    let Finding { path, line, column, rule, message, fix, .. } = finding;
    let cell = match (finding.cell, finding.cell_line) {
        (Some(cell), Some(line)) => format!(" (cell {cell}, line {line})"),
        _ => String::new(),
    };
    let path = printable(path);
    let _ = writeln!(text, "{path}:{line}:{column}: {} {rule}{cell}", finding.level.name());
    // Tabs keep their width above the mark. Long lines are cut around the mark.
    let excerpt: Vec<char> = finding.excerpt.trim_end().chars().collect();
    let first = column.saturating_sub(81);
    let part = |letters: usize| excerpt.iter().skip(first).take(letters).collect::<String>();
    let (shown, before) = (part(120), part(column - 1 - first));
    let shown = printable_lines(&shown);
    let margin: String = printable_lines(&before).chars().map(blank).collect();
    let gutter = line.to_string();
    let _ = writeln!(text, "  {gutter} | {shown}");
    let _ = writeln!(text, "  {} | {margin}^", " ".repeat(gutter.len()));
    let _ = writeln!(text, "  {}", printable(message));
    let _ = writeln!(text, "  fix: {}\n", printable(fix));
}

fn blank(letter: char) -> char {
    if letter == '\t' { '\t' } else { ' ' }
}

/// A count with its noun: `1 file`, `2 files`, `3 files or cells`.
fn number(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {}s", what.replace(" or ", "s or ")) }
}

/// The counts of a survey, beside the paper's counts.
pub fn survey_text(report: &Report) -> String {
    let survey = &report.survey;
    let row = |name: &str, count: Count| {
        format!(
            "  {name:20} {:>8} pipelines in {} of {} files\n",
            count.pipelines, count.files, report.scanned
        )
    };
    let share = match survey.share_of_batch_first() {
        Some(share) => format!("{:.1} % of the files that do either batch first", 100.0 * share),
        None => "no file does either".to_owned(),
    };
    let mut text = "Order of shuffling and batching\n\n".to_owned();
    text += &row("shuffle then batch", survey.shuffle_then_batch);
    text += &row("batch then shuffle", survey.batch_then_shuffle);
    let _ = writeln!(text, "\n{share} (the paper's search of GitHub: 290 against 10,800 files, 2.6 %)");
    for order in [PipelineOrder::BatchThenShuffle, PipelineOrder::ShuffleThenBatch] {
        let own: Vec<_> = survey.locations.iter().filter(|location| location.order == order).collect();
        let name = if order == PipelineOrder::BatchThenShuffle {
            "batch then shuffle"
        } else {
            "shuffle then batch"
        };
        for location in own.iter().take(MOST_SHOWN) {
            let _ = writeln!(text, "  {}:{}  {name}", printable(&location.path), location.line);
        }
        if own.len() > MOST_SHOWN {
            let _ = writeln!(text, "  and {} more, which --format json lists", own.len() - MOST_SHOWN);
        }
    }
    text
}

/// Largest number of pipelines of each order that the text of a survey names.
const MOST_SHOWN: usize = 20;

/// A list of all rules, one on each line.
pub fn rule_list() -> String {
    let width = RULES.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let rows = RULES.iter().map(|rule| {
        let reach = rule.reach.name();
        format!("{:width$}  {:7}  {reach:15}  {}\n", rule.name, rule.level.name(), rule.finds)
    });
    rows.collect()
}

/// The explanation of a rule.
pub fn explanation(rule: &Rule) -> String {
    let reach = match rule.reach {
        Reach::Everywhere => "every module",
        Reach::PrivateModules => {
            "modules that import a library for differential privacy or call a private optimizer, or all with --assume-private"
        }
    };
    format!(
        "{} ({})\n\n  finds    {}\n  matters  {}\n  fix      {}\n  speaks   in {reach}\n  silence  # misdeal: ignore[{}]\n",
        rule.name,
        rule.level.name(),
        rule.finds,
        rule.why,
        rule.fix,
        rule.name
    )
}
