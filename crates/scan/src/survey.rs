//! Counts pipelines that shuffle before they batch, and pipelines that batch first.
//!
//! The paper counted files on GitHub by a textual search: about 10,800 shuffle first and 290 (2.6 %) batch first. Here pipelines are followed
//! through variables, so calls on different lines count too. Evaluation data counts, as it did there.

use crate::flow::{History, Value};
use crate::module::Module;
use crate::rules::order::{self, shuffles_batches};
use ruff_text_size::TextRange;
use serde::Serialize;
use std::collections::HashSet;

/// The pipelines of one module, by the operation that decides the order.
#[derive(Debug, Default)]
pub struct Census {
    shuffle_then_batch: usize,
    batch_then_shuffle: usize,
}

/// Counts over all modules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Survey {
    /// Pipelines that shuffle records and then form batches.
    pub shuffle_then_batch: Count,
    /// Pipelines that form batches and then shuffle those.
    pub batch_then_shuffle: Count,
}

/// Numbers of pipelines and files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Pipelines.
    pub pipelines: usize,
    /// Files with at least one.
    pub files: usize,
}

impl Census {
    /// Counts the pipelines of a module. One call counts once, wherever its result is used.
    pub fn of(module: &Module) -> Self {
        let (mut shuffled_first, mut batched_first) = (HashSet::new(), HashSet::new());
        for history in module.facts.pipelines.iter().flat_map(Value::histories) {
            let Some(last) = history.last() else { continue };
            if order::BATCH.contains(&last.name) && is_shuffled(history) {
                shuffled_first.insert(last.range);
            } else if shuffles_batches(history) {
                batched_first.insert(last.range);
            }
        }
        let count = |places: &HashSet<TextRange>| places.len();
        Census { shuffle_then_batch: count(&shuffled_first), batch_then_shuffle: count(&batched_first) }
    }
}

/// Whether records were shuffled before the last operation and not batched before that.
fn is_shuffled(history: &History) -> bool {
    let mut is_shuffled = false;
    for operation in history.backwards().skip(1) {
        is_shuffled |= order::SHUFFLE.contains(&operation.name);
        if order::BATCH.contains(&operation.name) && operation.arguments.is_some() {
            return false;
        }
    }
    is_shuffled
}

impl Survey {
    /// Adds a module.
    pub fn add(&mut self, census: &Census) {
        self.shuffle_then_batch.add(census.shuffle_then_batch);
        self.batch_then_shuffle.add(census.batch_then_shuffle);
    }

    /// The share of batch-first files; a file with both orders counts for each.
    pub fn share_of_batch_first(&self) -> Option<f64> {
        let files = self.shuffle_then_batch.files + self.batch_then_shuffle.files;
        (files > 0).then(|| self.batch_then_shuffle.files as f64 / files as f64)
    }
}

impl Count {
    fn add(&mut self, pipelines: usize) {
        self.pipelines += pipelines;
        self.files += usize::from(pipelines > 0);
    }
}
