//! Every batch is a fresh uniform subset of the records.

use crate::{BatchRng, PositionLaw};
use crate::{Batches, Sampler};
use misdeal_core::Setting;
use rand::seq::SliceRandom;

/// All subsets of B records are equally likely in each step, independently of the other steps.
pub(crate) struct WithoutReplacement {
    batches: Batches,
    /// All records, in an order that the draws so far left behind.
    deck: Vec<u64>,
    batch_size: usize,
    rng: BatchRng,
}

impl WithoutReplacement {
    pub(crate) fn new(setting: &Setting, rng: BatchRng) -> Self {
        let batches = Batches::in_file_order(setting);
        WithoutReplacement {
            deck: batches.records.clone(),
            batches,
            batch_size: setting.batch_size as usize,
            rng,
        }
    }
}

impl Sampler for WithoutReplacement {
    fn next_epoch(&mut self) -> &Batches {
        for batch in self.batches.records.chunks_mut(self.batch_size) {
            // The first steps of a Fisher-Yates shuffle: a uniform subset whatever the order it starts from.
            let (drawn, _) = self.deck.partial_shuffle(&mut self.rng, self.batch_size);
            batch.copy_from_slice(drawn);
        }
        &self.batches
    }
}

/// In each step with probability B / n = 1 / T, independently.
pub(crate) fn law(setting: &Setting) -> PositionLaw {
    PositionLaw::EachStep { probability: setting.sampling_probability() }
}
