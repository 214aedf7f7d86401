//! A data pipeline that forms batches and then shuffles them.
//!
//! That is `.batch(..)` before `.shuffle(..)`, with no shuffle before and no `unbatch` between.
//!
//! # Example
//! ```python
//! data = tf.data.Dataset.from_tensor_slices(records).batch(32).shuffle(1000)
//! ```
//!
//! The rule reports in every module that uses a library with data pipelines, because this order is almost never intended.

use super::order::shuffles_batches;
use super::{Found, Reach, Rule};
use crate::flow::History;
use crate::libraries::has_pipelines;
use crate::module::Module;
use crate::role::Role;
use misdeal_results::Level;

pub const RULE: Rule = Rule {
    name: "batch-before-shuffle",
    finds: "batches that are formed before the data is shuffled",
    why: "whole batches are permuted and records are never mixed, so the batches that an accountant believes random are fixed",
    fix: "call shuffle before batch; if Poisson sampling is what is accounted for, sample by Poisson",
    reach: Reach::Everywhere,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    if !has_pipelines(&module.facts) {
        return;
    }
    for value in &module.facts.pipelines {
        let Some(last) = value.histories()[0].last() else { continue };
        let is_evaluation = |history: &History| Role::of_pipeline(history, last) == Role::Evaluation;
        if value.always(shuffles_batches) && !value.always(is_evaluation) {
            found.add(last.range, "batch comes before shuffle");
        }
    }
}
