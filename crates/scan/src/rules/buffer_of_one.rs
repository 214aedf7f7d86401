//! A `tf.data` pipeline that shuffles with a buffer of one record (or none).
//!
//! # Example
//! ```python
//! data = tf.data.Dataset.from_tensor_slices(records).shuffle(1).batch(32)
//! ```
//!
//! The rule reports in every module, because nobody intends this.

use super::tensorflow_data::{buffer_size, training_pipelines};
use super::{Found, Reach, Rule};
use crate::module::Module;
use misdeal_results::Level;

pub const RULE: Rule = Rule {
    name: "buffer-of-one",
    finds: "shuffling with a buffer of one record, which does nothing",
    why: "nothing is shuffled, so every batch is fixed and there is no amplification by sampling at all",
    fix: "use a buffer as large as the data set, or sample by Poisson",
    reach: Reach::Everywhere,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    for (_, shuffle) in training_pipelines(module, &["shuffle", "shuffle_and_repeat"]) {
        if let Some(size @ 0..=1) = buffer_size(shuffle) {
            found.add(shuffle.range, format!("the shuffle buffer holds {size} record"));
        }
    }
}
