//! A `tf.data` pipeline that shuffles, then caches, and does not shuffle again.
//!
//! # Example
//! ```python
//! import tensorflow_privacy
//! data = tf.data.Dataset.from_tensor_slices(records).shuffle(60000).cache().batch(256)
//! ```
//!
//! The rule reports in private modules.

use super::order::SHUFFLE;
use super::tensorflow_data::{is_followed_by, training_pipelines};
use super::{Found, Reach, Rule};
use crate::flow::History;
use crate::module::Module;
use misdeal_results::Level;

pub const RULE: Rule = Rule {
    name: "cache-after-shuffle",
    finds: "a tf.data cache that keeps the first epoch's order",
    why: "every epoch has the same batches, so noise can be averaged over epochs that the accountant takes for drawn anew",
    fix: "call cache before shuffle",
    reach: Reach::PrivateModules,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    for (value, cache) in training_pipelines(module, &["cache"]) {
        let is_shuffled = |history: &History| history.backwards().any(|step| SHUFFLE.contains(&step.name));
        if value.always(is_shuffled) && !is_followed_by(module, cache, &["shuffle", "take", "skip"]) {
            found.add(cache.range, "cache comes after shuffle");
        }
    }
}
