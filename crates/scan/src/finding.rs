//! What a rule found.

use serde::Serialize;
use std::borrow::Cow;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The guarantee that is claimed is not that of the batches that are drawn.
    Error,
    /// It is not, or is only so under conditions that the source does not show.
    Warning,
    /// A small loss.
    Note,
}

impl Level {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// A mistake at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file, as it was reached from the given path, with forward slashes.
    pub path: String,
    /// The line of the file, from 1; of a notebook, the line of its JSON.
    pub line: usize,
    /// The character of the line of code, from 1.
    pub column: usize,
    /// Of a notebook: the number of the cell among all cells, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<usize>,
    /// Of a notebook: the line in the cell, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell_line: Option<usize>,
    /// The rule's name.
    pub rule: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What was found, and why it matters for privacy.
    pub message: String,
    /// What to do.
    pub fix: Cow<'static, str>,
    /// The line of code.
    pub excerpt: String,
}
