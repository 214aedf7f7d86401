//! What the page says about one result, ready to be laid out.

use crate::chart::Chart;
use misdeal_results::{Tone, Verdict};

/// One result.
#[derive(Debug, Clone)]
pub struct Section {
    /// What it is a result of.
    pub kind: &'static str,
    /// What it is about.
    pub title: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The numbers that matter.
    pub figures: Vec<KeyFigure>,
    /// What they guarantee and what they do not.
    pub meaning: Vec<String>,
    /// What can be done about it.
    pub advice: Vec<Advice>,
    /// Pictures.
    pub charts: Vec<Chart>,
    /// Tables.
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
    /// The name of the verdict's style.
    pub fn class(&self) -> &'static str {
        match self.verdict.tone {
            Tone::Refuted => "refuted",
            Tone::Doubt => "doubt",
            Tone::Open => "open",
            Tone::Neutral => "neutral",
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

impl Table {
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
    /// The command line; none where no command makes it.
    pub command: Option<String>,
    /// What to know about it.
    pub note: String,
}

/// A result's line in a comparison; what is not known is left out.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// What was found.
    pub found: Option<f64>,
    /// Whether that is a lower bound with confidence.
    pub valid: bool,
    /// What is claimed.
    pub claimed: Option<f64>,
    /// Between what theory puts the truth.
    pub theory: [Option<f64>; 2],
    /// What became of several numbers, counted.
    pub tally: String,
}
