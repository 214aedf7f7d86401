//! The scheme whose every batch is a new uniform subset of the records.

use crate::{BatchRng, PositionLaw};
use crate::{Batches, Sampler};
use misdeal_core::Setting;
use rand::seq::SliceRandom;

/// The sampler: in each step all subsets of B records are equally likely, independently of the other steps.
pub(crate) struct WithoutReplacement {
    batches: Batches,
    /// All records, in the order that earlier draws left.
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
            // The first steps of a Fisher-Yates shuffle give a uniform subset from any starting order.
            let (drawn, _) = self.deck.partial_shuffle(&mut self.rng, self.batch_size);
            batch.copy_from_slice(drawn);
        }
        &self.batches
    }
}

/// The position law: in each step with probability B / n = 1 / T, independently.
pub(crate) fn law(setting: &Setting) -> PositionLaw {
    PositionLaw::EachStep { probability: setting.sampling_probability() }
}
