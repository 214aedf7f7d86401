//! Consecutive records form batches, and the order of the batches is permuted.

use crate::{BatchRng, PositionLaw, Weights};
use crate::{Batches, Sampler};
use misdeal_core::Setting;
use rand::seq::SliceRandom;

/// All T! orders of the batches are equally likely, independently between epochs; who shares a batch never changes.
pub(crate) struct BatchThenShuffle {
    batches: Batches,
    /// The first records of the batches, in the epoch's order.
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

/// Every place in the epoch with probability 1 / T, for the target and its batch together.
pub(crate) fn law(setting: &Setting) -> PositionLaw {
    PositionLaw::OnceAnEpoch(Weights::Uniform(0..setting.steps_per_epoch))
}
