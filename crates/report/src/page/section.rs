//! What the page says about one result, ready to be laid out.

use crate::chart::Chart;
use misdeal_results::request::Request;
use misdeal_results::{Tone, Verdict, VerdictKind};

/// One result.
#[derive(Debug, Clone)]
pub struct Section {
    /// What it is a result of.
    pub kind: &'static str,
    /// What the result is about.
    pub title: String,
    /// The model that it is about, if it has a name.
    pub name: Option<String>,
    /// What to do, in a sentence for somebody who decides.
    pub advised: String,
    /// The verdict on the setting.
    pub verdict: Verdict,
    /// What to know besides: of the audit itself that it was too small, say.
    pub remarks: Vec<Remark>,
    /// The tables that a decision needs.
    pub summary_tables: Vec<Table>,
    /// The numbers that matter.
    pub figures: Vec<KeyFigure>,
    /// What they guarantee and what they do not.
    pub meaning: Vec<String>,
    /// What can be done about it.
    pub advice: Vec<Advice>,
    /// Pictures.
    pub charts: Vec<Chart>,
    /// Tables of details.
    pub tables: Vec<Table>,
    /// What was set, by name.
    pub settings: Vec<Fact>,
    /// The command that does it again.
    pub rerun: Rerun,
    /// Where, when and with what.
    pub provenance: Vec<Fact>,
    /// The result's line among others.
    pub summary: Summary,
}

impl Section {
    /// The name of the verdict's style. What is refuted never looks any better, whatever its tone.
    pub fn class(&self) -> &'static str {
        match (self.verdict.kind, self.verdict.tone) {
            (VerdictKind::Refuted, _) | (_, Tone::Refuted) => "refuted",
            (_, Tone::Doubt) => "doubt",
            (_, Tone::Open) => "open",
            (_, Tone::Neutral) => "neutral",
        }
    }
}

/// A number that matters.
#[derive(Debug, Clone)]
pub struct KeyFigure {
    /// What it is.
    pub label: String,
    /// The number.
    pub value: String,
    /// What to know about it.
    pub note: String,
}

impl KeyFigure {
    /// A number with what it is and what to know about it.
    pub fn new(label: impl Into<String>, value: impl Into<String>, note: impl Into<String>) -> Self {
        KeyFigure { label: label.into(), value: value.into(), note: note.into() }
    }
}

/// What to know besides a verdict, and what it is about.
#[derive(Debug, Clone)]
pub struct Remark {
    /// What it is about: "this audit".
    pub about: &'static str,
    /// In a sentence or two.
    pub text: String,
}

impl Remark {
    /// What to know of the audit itself.
    pub fn on_audit(text: impl Into<String>) -> Self {
        Remark { about: "this audit", text: text.into() }
    }
}

/// What can be done, and the command that does it.
#[derive(Debug, Clone)]
pub struct Advice {
    /// In a sentence.
    pub text: String,
    /// The command, if one helps.
    pub command: Option<String>,
}

/// A value by its name.
#[derive(Debug, Clone)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

impl Fact {
    /// A value by its name.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Fact { name: name.into(), value: value.into() }
    }
}

/// A table; the first cell of a row is its heading.
#[derive(Debug, Clone)]
pub struct Table {
    /// What it holds.
    pub caption: String,
    /// Headings of the columns.
    pub header: Vec<&'static str>,
    /// Rows.
    pub rows: Vec<Vec<String>>,
    /// What to know about it.
    pub notes: Vec<String>,
}

/// Rows that a table has on paper, at most.
const MOST_PRINTED: usize = 12;

impl Table {
    /// Whether a row is left out on paper; the number of rows starts at 0.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates give references")]
    pub fn is_cut(&self, row: &usize) -> bool {
        self.is_long() && *row >= MOST_PRINTED
    }

    /// Whether paper shows its first rows only.
    pub fn is_long(&self) -> bool {
        // One or two rows more cost less than the note that they are missing.
        self.rows.len() > MOST_PRINTED + 2
    }

    /// What paper says of the rows that it leaves out.
    pub fn cut_note(&self) -> String {
        format!(
            "Printed: {MOST_PRINTED} of {} rows. The page on the screen has all of them.",
            self.rows.len()
        )
    }

    /// Whether a narrow screen has no room for its columns beside each other: there are many of them, or sentences in some.
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
    /// What to know about it.
    pub note: String,
}

impl Rerun {
    /// The command line of the result's request, with what to know about it.
    pub fn new(command: Option<String>, note: impl Into<String>) -> Self {
        let note = if command.is_some() { note.into() } else { NO_REQUEST.into() };
        Rerun { command, note }
    }

    /// The command line of a request, with what to know about it.
    pub fn of(request: Option<&impl Request>, note: impl Into<String>) -> Self {
        Self::new(request.map(Request::command_line), note)
    }
}

const NO_REQUEST: &str = "This result does not say what was asked for: an older version wrote it, or a program that called the library. So \
                          there is no command to run it again.";

/// A result's line in a comparison; what is not known is left out.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// What was found.
    pub found: Option<f64>,
    /// Whether that is a lower bound with confidence.
    pub valid: bool,
    /// What is claimed.
    pub claimed: Option<f64>,
    /// The delta at which all of it is meant.
    pub delta: Option<f64>,
    /// Between what theory puts the truth.
    pub theory: [Option<f64>; 2],
    /// What became of several numbers, counted.
    pub tally: String,
}
