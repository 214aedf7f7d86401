//! Counts pipelines that shuffle before they batch, and pipelines that batch first.
//!
//! The paper counted files on GitHub by a text search: about 10,800 shuffle first and 290 (2.6 %) batch first. The survey here
//! follows pipelines through variables, so calls on different lines count too. As in the paper, evaluation data count.

use crate::flow::{History, Value};
use crate::module::Module;
use crate::rules::order::{self, shuffles_batches};
use misdeal_results::Survey;
use ruff_text_size::TextRange;
use std::collections::HashSet;

/// The number of pipelines in one module that shuffle first and that batch first.
#[derive(Debug, Default)]
pub struct Census {
    shuffle_then_batch: usize,
    batch_then_shuffle: usize,
}

impl Census {
    /// Counts the pipelines of a module. A call counts once, even if its result is used several times.
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

    /// Adds the counts of this module to the counts over all modules.
    pub fn add_to(&self, survey: &mut Survey) {
        survey.shuffle_then_batch.add(self.shuffle_then_batch);
        survey.batch_then_shuffle.add(self.batch_then_shuffle);
    }
}

/// Whether records were shuffled before the last operation, and were not batched before it.
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
