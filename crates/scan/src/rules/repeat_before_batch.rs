//! A `tf.data` pipeline that repeats the data and then forms batches.
//!
//! # Example
//! ```python
//! import tensorflow_privacy
//! data = tf.data.Dataset.from_tensor_slices(records).shuffle(60000).repeat(10).batch(256)
//! ```
//!
//! The rule reports in private modules.

use super::order::BATCH;
use super::tensorflow_data::training_pipelines;
use super::{Found, Reach, Rule};
use crate::flow::{History, Operation, Origin};
use crate::module::Module;
use misdeal_results::Level;

pub const RULE: Rule = Rule {
    name: "repeat-before-batch",
    finds: "batches that straddle epochs because the data is repeated before it is batched",
    why: "one record may be twice in a batch and contribute twice the clipping norm, which the noise is not made for",
    fix: "call repeat after batch, or loop over epochs outside the pipeline",
    reach: Reach::PrivateModules,
    level: Level::Warning,
    check,
};

fn check(module: &Module, found: &mut Found) {
    for (value, batch) in training_pipelines(module, &BATCH) {
        if value.always(|history| is_repeated(history) && !is_one_element(history)) {
            found.add(batch.range, "batch comes after repeat");
        }
    }
}

/// Whether a pipeline starts with a single element, as in benchmarks.
fn is_one_element(history: &History) -> bool {
    matches!(history.origin(), Origin::Constructed(name, ..) if name.ends_with(".from_tensors"))
}

/// Whether data are repeated before the first batches are formed.
fn is_repeated(history: &History) -> bool {
    let repeats = |step: &Operation| match step.name {
        "shuffle_and_repeat" => true,
        "repeat" => {
            let count = step.arguments.as_ref().and_then(|arguments| arguments.get("count", 0));
            count.is_none_or(|(_, value)| value.as_int() != Some(1))
        }
        _ => false,
    };
    let before: Vec<&Operation> = history.backwards().skip(1).collect();
    before.iter().any(|step| repeats(step)) && !before.iter().any(|step| BATCH.contains(&step.name))
}
