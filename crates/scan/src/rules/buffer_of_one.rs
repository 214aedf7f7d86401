//! # What it finds
//! `tf.data` pipelines that shuffle with a buffer of one record (or none).
//!
//! # Why it matters
//! A buffer of one record emits it at once: nothing is shuffled, every batch is fixed, and there is no amplification by sampling at all.
//!
//! # How to fix
//! Use a buffer as large as the data set, or sample by Poisson.
//!
//! # Example
//! ```python
//! data = tf.data.Dataset.from_tensor_slices(records).shuffle(1).batch(32)
//! ```
//!
//! It speaks in every module: nobody means it.

use super::tensorflow_data::{buffer_size, training_pipelines};
use super::{Found, Page, Reach, Rule};
use crate::module::Module;
use misdeal_results::Level;

/// The rule.
pub struct BufferOfOne;

const PAGE: Page = Page {
    name: "buffer-of-one",
    finds: "shuffling with a buffer of one record, which does nothing",
    why: "nothing is shuffled, so every batch is fixed and there is no amplification by sampling at all",
    fix: "use a buffer as large as the data set, or sample by Poisson",
    reach: Reach::Everywhere,
    level: Level::Error,
};

impl Rule for BufferOfOne {
    fn page(&self) -> &'static Page {
        &PAGE
    }

    fn check(&self, module: &Module, found: &mut Found) {
        for (_, shuffle) in training_pipelines(module, &["shuffle", "shuffle_and_repeat"]) {
            if let Some(size @ 0..=1) = buffer_size(shuffle) {
                found.add(shuffle.range, format!("the shuffle buffer holds {size} record"));
            }
        }
    }
}
