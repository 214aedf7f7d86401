//! The content of the page about one result, ready for the template.

use crate::chart::Chart;
use misdeal_results::request::Request;
use misdeal_results::{Tone, Verdict, VerdictKind};

/// The content for one result.
#[derive(Debug, Clone)]
pub struct Section {
    /// The kind of result.
    pub kind: &'static str,
    /// The subject of the result.
    pub title: String,
    /// The model's name, if it has one.
    pub name: Option<String>,
    /// One sentence on what to do, for the person who decides.
    pub advised: String,
    /// The verdict on the setting.
    pub verdict: Verdict,
    /// Further remarks, for example that the audit was too small.
    pub remarks: Vec<Remark>,
    /// The tables that a decision needs.
    pub summary_tables: Vec<Table>,
    /// The key figures.
    pub figures: Vec<KeyFigure>,
    /// Paragraphs on what the figures guarantee, and what they do not.
    pub meaning: Vec<String>,
    /// What the reader can do.
    pub advice: Vec<Advice>,
    /// The charts of the result.
    pub charts: Vec<Chart>,
    /// Tables of details.
    pub tables: Vec<Table>,
    /// The settings, by name.
    pub settings: Vec<Fact>,
    /// The command that runs the same thing again.
    pub rerun: Rerun,
    /// Where, when and with which version the result was made.
    pub provenance: Vec<Fact>,
    /// The result's line in a comparison.
    pub summary: Summary,
}

impl Section {
    /// The CSS class of the verdict. A refuted claim always looks refuted, whatever the verdict's tone.
    pub fn class(&self) -> &'static str {
        match (self.verdict.kind, self.verdict.tone) {
            (VerdictKind::Refuted, _) | (_, Tone::Refuted) => "refuted",
            (_, Tone::Doubt) => "doubt",
            (_, Tone::Open) => "open",
            (_, Tone::Neutral) => "neutral",
        }
    }
}

/// A number that matters, with its label and a note.
#[derive(Debug, Clone)]
pub struct KeyFigure {
    /// What the number is.
    pub label: String,
    /// The number.
    pub value: String,
    /// A note on the number.
    pub note: String,
}

impl KeyFigure {
    /// A key figure from its label, number and note.
    pub fn new(label: impl Into<String>, value: impl Into<String>, note: impl Into<String>) -> Self {
        KeyFigure { label: label.into(), value: value.into(), note: note.into() }
    }
}

/// A remark besides the verdict.
#[derive(Debug, Clone)]
pub struct Remark {
    /// The subject of the remark, such as "this audit".
    pub about: &'static str,
    /// The remark, in a sentence or two.
    pub text: String,
}

impl Remark {
    /// A remark on the audit itself.
    pub fn on_audit(text: impl Into<String>) -> Self {
        Remark { about: "this audit", text: text.into() }
    }
}

/// A piece of advice, with a command that carries it out.
#[derive(Debug, Clone)]
pub struct Advice {
    /// The advice, in one sentence.
    pub text: String,
    /// The command, if one helps.
    pub command: Option<String>,
}

/// A name and its value.
#[derive(Debug, Clone)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

impl Fact {
    /// A fact from its name and value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Fact { name: name.into(), value: value.into() }
    }
}

/// A table; the first cell of a row is its heading.
#[derive(Debug, Clone)]
pub struct Table {
    /// What the table holds.
    pub caption: String,
    /// The column headings.
    pub header: Vec<&'static str>,
    /// The rows, as texts of cells.
    pub rows: Vec<Vec<String>>,
    /// Notes below the table.
    pub notes: Vec<String>,
}

/// The most rows of a table on paper.
const MOST_PRINTED: usize = 12;

impl Table {
    /// Whether paper leaves out this row. Rows count from 0.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates give references")]
    pub fn is_cut(&self, row: &usize) -> bool {
        self.is_long() && *row >= MOST_PRINTED
    }

    /// Whether paper shows only the table's first rows.
    pub fn is_long(&self) -> bool {
        // One or two rows more cost less than the note that they are missing.
        self.rows.len() > MOST_PRINTED + 2
    }

    /// The note on paper about the rows left out.
    pub fn cut_note(&self) -> String {
        format!(
            "Printed: {MOST_PRINTED} of {} rows. The page on the screen has all of them.",
            self.rows.len()
        )
    }

    /// Whether the table is too wide for a narrow screen: it has many columns, or sentences in cells.
    pub fn is_wide(&self) -> bool {
        const SENTENCE: usize = 60;
        let has_sentences = || self.rows.iter().flatten().any(|cell| cell.chars().count() > SENTENCE);
        self.header.len() > 4 || self.header.len() > 2 && has_sentences()
    }
}

/// How to get the same result again.
#[derive(Debug, Clone, Default)]
pub struct Rerun {
    /// The command line; `None` if the result does not contain its request.
    pub command: Option<String>,
    /// A note on the command.
    pub note: String,
}

impl Rerun {
    /// A rerun from the result's command line and a note. Without a command line, the note says why there is none.
    pub fn new(command: Option<String>, note: impl Into<String>) -> Self {
        let note = if command.is_some() { note.into() } else { NO_REQUEST.into() };
        Rerun { command, note }
    }

    /// A rerun from a request and a note.
    pub fn of(request: Option<&impl Request>, note: impl Into<String>) -> Self {
        Self::new(request.map(Request::command_line), note)
    }
}

const NO_REQUEST: &str = "This result does not say what was asked for: an older version wrote it, or a program that called the library. So \
                          there is no command to run it again.";

/// A result's line in a comparison, without what is not known.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// The epsilon found.
    pub found: Option<f64>,
    /// Whether `found` is a lower bound with confidence.
    pub valid: bool,
    /// The claimed epsilon.
    pub claimed: Option<f64>,
    /// The delta of all epsilons in the line.
    pub delta: Option<f64>,
    /// Theory's lower and upper bound on the true epsilon.
    pub theory: [Option<f64>; 2],
    /// Counts of verdicts, if the result has several numbers.
    pub tally: String,
}
