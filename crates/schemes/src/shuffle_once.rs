//! The scheme of one uniform permutation, cut into batches that are the same in all epochs.

use crate::{BatchRng, PositionLaw, Weights};
use crate::{Batches, Sampler};
use misdeal_core::Setting;
use rand::seq::SliceRandom;

/// The sampler: all n! orders of the records are equally likely. One order is drawn and used in every epoch.
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

/// The position law: every batch with probability 1 / T, the same batch in all epochs.
pub(crate) fn law(setting: &Setting) -> PositionLaw {
    PositionLaw::KeptForAllEpochs(Weights::Uniform(0..setting.steps_per_epoch))
}
