//! A `tf.data` pipeline that shuffles with `reshuffle_each_iteration=False`.
//!
//! # Example
//! ```python
//! import tensorflow_privacy
//! data = tf.data.Dataset.from_tensor_slices(records).shuffle(60000, reshuffle_each_iteration=False).batch(256)
//! ```
//!
//! The rule reports in private modules. It does not report if the fixed order is needed for a split (`take` and `skip`
//! afterwards), or if the data are shuffled again.

use super::tensorflow_data::{is_followed_by, training_pipelines};
use super::{Found, Reach, Rule};
use crate::module::Module;
use misdeal_results::Level;
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "shuffled-once",
    finds: "a tf.data shuffle that is the same in every epoch",
    why: "every epoch has the same batches, so noise can be averaged over epochs that the accountant takes for drawn anew",
    fix: "leave reshuffle_each_iteration out (it is true by default), or sample by Poisson",
    reach: Reach::PrivateModules,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    if super::training_not_shuffled::keeps_order_on_purpose(module) {
        return;
    }
    for (_, shuffle) in training_pipelines(module, &["shuffle"]) {
        let Some(arguments) = &shuffle.arguments else { continue };
        let reshuffles = arguments.get("reshuffle_each_iteration", 2).and_then(|(_, value)| value.as_bool());
        if reshuffles == Some(false)
            && !is_followed_by(module, shuffle, &["take", "skip", "shard", "shuffle"])
        {
            let value = arguments.get("reshuffle_each_iteration", 2);
            let literal = value.filter(|(expression, _)| expression.is_boolean_literal_expr());
            let edits =
                literal.map(|(expression, _)| (expression.range(), "True".to_owned())).into_iter().collect();
            found.add_certain(shuffle.range, "reshuffle_each_iteration is False", edits);
        }
    }
}
