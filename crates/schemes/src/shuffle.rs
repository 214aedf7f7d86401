//! A fresh uniform permutation each epoch, cut into batches.

use crate::{BatchRng, PositionLaw, Weights};
use crate::{Batches, Sampler};
use misdeal_core::Setting;
use rand::seq::SliceRandom;

/// All n! orders of the records are equally likely in each epoch, independently of the other epochs.
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
        // A uniform permutation of any order that it does not depend on is uniform: no need to go back to file order.
        self.batches.records.shuffle(&mut self.rng);
        &self.batches
    }
}

/// Every batch with probability B / n = 1 / T, wherever the record lies in the file.
pub(crate) fn law(setting: &Setting) -> PositionLaw {
    PositionLaw::OnceAnEpoch(Weights::Uniform(0..setting.steps_per_epoch))
}
