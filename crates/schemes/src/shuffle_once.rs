//! One uniform permutation, cut into batches, the same in all epochs.

use crate::{BatchRng, PositionLaw, Weights};
use crate::{Batches, Sampler};
use misdeal_core::Setting;
use rand::seq::SliceRandom;

/// All n! orders of the records are equally likely; the one drawn serves every epoch.
pub(crate) struct ShuffleOnce(Batches);

impl ShuffleOnce {
    pub(crate) fn new(setting: &Setting, mut rng: BatchRng) -> Self {
        let mut batches = Batches::in_file_order(setting);
        batches.records.shuffle(&mut rng);
        ShuffleOnce(batches)
    }
}

impl Sampler for ShuffleOnce {
    fn next_epoch(&mut self) -> &Batches {
        &self.0
    }
}

/// Every batch with probability 1 / T, and then that batch in all epochs.
pub(crate) fn law(setting: &Setting) -> PositionLaw {
    PositionLaw::KeptForAllEpochs(Weights::Uniform(0..setting.steps_per_epoch))
}
