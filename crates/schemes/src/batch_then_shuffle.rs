//! The scheme in which consecutive records form batches, and the order of the batches is permuted.

use crate::{BatchRng, PositionLaw, Weights};
use crate::{Batches, Sampler};
use misdeal_core::Setting;
use rand::seq::SliceRandom;

/// The sampler: all T! orders of the batches are equally likely, independently in each epoch. The records of a batch
/// never change.
pub(crate) struct BatchThenShuffle {
    batches: Batches,
    /// The first record of each batch, in the epoch's order.
    first_records: Vec<u64>,
    batch_size: u64,
    rng: BatchRng,
}

impl BatchThenShuffle {
    pub(crate) fn new(setting: &Setting, rng: BatchRng) -> Self {
        let batch_size = setting.batch_size;
        let first_records = (0..setting.steps_per_epoch).map(|t| t * batch_size).collect();
        BatchThenShuffle { batches: Batches::in_file_order(setting), first_records, batch_size, rng }
    }
}

impl Sampler for BatchThenShuffle {
    fn next_epoch(&mut self) -> &Batches {
        self.first_records.shuffle(&mut self.rng);
        self.batches.records.clear();
        for &first in &self.first_records {
            self.batches.records.extend(first..first + self.batch_size);
        }
        &self.batches
    }
}

/// The position law: the target and its batch have each place in the epoch with probability 1 / T.
pub(crate) fn law(setting: &Setting) -> PositionLaw {
    PositionLaw::OnceAnEpoch(Weights::Uniform(0..setting.steps_per_epoch))
}
