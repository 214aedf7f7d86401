//! Scans: sampling mistakes in Python source files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `scan` found; with `--survey` counts of pipelines, and with `--list-rules` or `--explain` what there is to say about rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scan {
    /// Files that were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// Their size together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// What was not scanned, by file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Vec<Skipped>>,
    /// Files of which a part was not scanned, such as cells of a notebook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partly_read: Option<Vec<Skipped>>,
    /// What was found, by file and line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<Finding>>,
    /// How many pipelines shuffle first, and how many batch first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survey: Option<Survey>,
    /// Rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<RuleEntry>>,
}

/// A file, or cells of one, that was not scanned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Skipped {
    /// The file.
    pub path: String,
    /// Why it was not scanned.
    pub reason: String,
}

/// How bad a mistake is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
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
    /// Returns the level's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// A mistake at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Finding {
    /// The file, as it was reached from the given path, with forward slashes.
    pub path: String,
    /// The line of the file, from 1; of a notebook, the line of its JSON.
    pub line: usize,
    /// The character of the line of code, from 1.
    pub column: usize,
    /// Of a notebook: the number of the cell among all cells, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<usize>,
    /// Of a notebook: the line in the cell, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_line: Option<usize>,
    /// The rule that found it.
    pub rule: String,
    /// How bad it is.
    pub level: Level,
    /// What was found, and why it matters for privacy.
    pub message: String,
    /// What to do.
    pub fix: String,
    /// The line of code.
    pub excerpt: String,
}

/// Pipelines by the operation that settles the order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Survey {
    /// Pipelines that shuffle records and then form batches.
    pub shuffle_then_batch: Count,
    /// Pipelines that form batches and then shuffle those.
    pub batch_then_shuffle: Count,
    /// Where these pipelines are, by file and line.
    #[serde(default)]
    pub locations: Vec<SurveyLocation>,
}

/// The order of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum PipelineOrder {
    /// Records are shuffled, and then batches are formed.
    ShuffleThenBatch,
    /// Batches are formed, and then shuffled.
    BatchThenShuffle,
}

/// A pipeline that a survey counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SurveyLocation {
    /// The file.
    pub path: String,
    /// The line of the operation that settles the order.
    pub line: usize,
    /// The order.
    pub order: PipelineOrder,
}

impl Survey {
    /// Returns the share of files with a pipeline that batches first.
    ///
    /// A file with both orders counts once for each order. Returns `None` if no file has such a pipeline.
    pub fn share_of_batch_first(&self) -> Option<f64> {
        let files = self.shuffle_then_batch.files + self.batch_then_shuffle.files;
        (files > 0).then(|| self.batch_then_shuffle.files as f64 / files as f64)
    }
}

/// How often something occurs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Count {
    /// Pipelines.
    pub pipelines: usize,
    /// Files with at least one.
    pub files: usize,
}

impl Count {
    /// Adds one file with this many pipelines.
    pub fn add(&mut self, pipelines: usize) {
        self.pipelines += pipelines;
        self.files += usize::from(pipelines > 0);
    }
}

/// What there is to say about a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RuleEntry {
    /// Its name in reports, comments and settings.
    pub name: String,
    /// How bad what it finds is.
    pub level: Level,
    /// In which modules it speaks.
    pub reach: String,
    /// What it finds.
    pub finds: String,
    /// Why that matters for privacy.
    pub why: String,
    /// How to fix it.
    pub fix: String,
}
