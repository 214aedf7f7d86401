//! Counts pipelines that shuffle before they batch, and pipelines that batch first.
//!
//! The paper counted files on GitHub by a text search: about 10,800 shuffle first and 290 (2.6 %) batch first. The survey here
//! follows pipelines through variables, so calls on different lines count too. As in the paper, evaluation data count.

use crate::flow::{Call, History, Origin, Value};
use crate::module::Module;
use crate::rules::data_loader;
use crate::rules::order::{self, forms_batches, shuffles_batches};
use misdeal_results::{PipelineOrder, Survey, SurveyLocation};
use ruff_text_size::{Ranged, TextSize};
use std::collections::BTreeMap;

/// The pipelines of one module by the line of the operation that settles their order.
#[derive(Debug, Default)]
pub struct Census {
    found: Vec<(usize, PipelineOrder)>,
}

impl Census {
    /// Counts the pipelines of a module. A call counts once, even if its result is used several times.
    pub fn of(module: &Module) -> Self {
        let mut found: BTreeMap<(TextSize, bool), PipelineOrder> = BTreeMap::new();
        for history in module.facts.pipelines.iter().flat_map(Value::histories) {
            let Some(last) = history.last() else { continue };
            let at = last.range.start();
            if shuffles_batches(history) {
                found.insert((at, true), PipelineOrder::BatchThenShuffle);
            } else if forms_batches(last) && is_shuffled(history) {
                found.insert((at, false), PipelineOrder::ShuffleThenBatch);
            }
        }
        for call in &module.facts.calls {
            if forms_batches_of_shuffled(call) {
                found.insert((call.expression.range().start(), false), PipelineOrder::ShuffleThenBatch);
            }
        }
        let line = |at: TextSize| module.source.position(at.to_usize()).line;
        Census { found: found.into_iter().map(|((at, _), order)| (line(at), order)).collect() }
    }

    /// Adds the counts of this module to the counts over all modules.
    pub fn add_to(&self, survey: &mut Survey, path: &str) {
        let count = |wanted: PipelineOrder| self.found.iter().filter(|(_, order)| *order == wanted).count();
        survey.shuffle_then_batch.add(count(PipelineOrder::ShuffleThenBatch));
        survey.batch_then_shuffle.add(count(PipelineOrder::BatchThenShuffle));
        let room = MOST_LOCATIONS.saturating_sub(survey.locations.len());
        survey.locations.extend(self.found.iter().take(room).map(|&(line, order)| SurveyLocation {
            path: path.to_owned(),
            line,
            order,
        }));
    }
}

/// Largest number of locations in a survey.
const MOST_LOCATIONS: usize = 50_000;

/// Whether records were shuffled before the last operation, and were not batched before it, or unbatched since.
fn is_shuffled(history: &History) -> bool {
    let mut is_shuffled = false;
    let mut is_unbatched = false;
    for operation in history.backwards().skip(1) {
        is_shuffled |= order::SHUFFLE.contains(&operation.name);
        is_unbatched |= order::UNBATCH.contains(&operation.name);
        if forms_batches(operation) && !is_unbatched {
            return false;
        }
    }
    is_shuffled || samples_in_random_order(history)
}

/// Whether a pipeline of Grain starts with a sampler that shuffles.
fn samples_in_random_order(history: &History) -> bool {
    matches!(history.origin(), Origin::Constructed(name, _, arguments)
        if name.ends_with("IndexSampler") && is_true(arguments.named("shuffle").map(|(_, value)| value)))
}

fn is_true(value: Option<&Value>) -> bool {
    value.is_some_and(|value| value.as_bool() == Some(true))
}

/// Whether a call forms batches of shuffled records: a `DataLoader` of PyTorch, or one of Grain with its sampler and operations.
fn forms_batches_of_shuffled(call: &Call) -> bool {
    let Some(name) = call.name() else { return false };
    if data_loader::is_data_loader(name) {
        return data_loader::shuffles(call) == Some(true) || data_loader::samples_randomly(call);
    }
    let is_grain = name.starts_with("grain") && name.ends_with("DataLoader");
    let operations = call.arguments.named("operations").map(|(_, value)| value);
    let batches = operations.and_then(Value::origin).is_some_and(|operations| match operations {
        Origin::Items(items) => items.iter().any(
            |item| matches!(item.origin(), Some(Origin::Constructed(name, ..)) if name.ends_with("Batch")),
        ),
        _ => false,
    });
    let sampler = call.arguments.named("sampler").map(|(_, value)| value);
    is_grain && batches && sampler.is_some_and(|sampler| sampler.always(samples_in_random_order))
}
