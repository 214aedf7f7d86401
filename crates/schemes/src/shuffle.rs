//! The scheme of a new uniform permutation in each epoch, cut into batches.

use crate::{BatchRng, PositionLaw, Weights};
use crate::{Batches, Sampler};
use misdeal_core::Setting;
use rand::seq::SliceRandom;

/// The sampler: all n! orders of the records are equally likely in each epoch, independently of the other epochs.
pub(crate) struct Shuffle {
    batches: Batches,
    rng: BatchRng,
}

impl Shuffle {
    pub(crate) fn new(setting: &Setting, rng: BatchRng) -> Self {
        Shuffle { batches: Batches::in_file_order(setting), rng }
    }
}

impl Sampler for Shuffle {
    fn next_epoch(&mut self) -> &Batches {
        // A uniform permutation of any order that is independent of it is uniform. So file order need not be restored.
        self.batches.records.shuffle(&mut self.rng);
        &self.batches
    }
}

/// The position law: every batch with probability B / n = 1 / T, for any place of the record in the file.
pub(crate) fn law(setting: &Setting) -> PositionLaw {
    PositionLaw::OnceAnEpoch(Weights::Uniform(0..setting.steps_per_epoch))
}
