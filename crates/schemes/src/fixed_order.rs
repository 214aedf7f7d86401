//! The scheme with fixed batches in file order, without randomness.

use crate::{Batches, Sampler};
use crate::{PositionLaw, Weights};
use misdeal_core::Setting;

/// The sampler: batch t holds records t B to (t + 1) B - 1 in every epoch.
pub(crate) struct FixedOrder(Batches);

impl FixedOrder {
    pub(crate) fn new(setting: &Setting) -> Self {
        FixedOrder(Batches::in_file_order(setting))
    }
}

impl Sampler for FixedOrder {
    fn next_epoch(&mut self) -> &Batches {
        &self.0
    }
}

/// The position law: record i is always in batch floor(i / B).
pub(crate) fn law(setting: &Setting) -> PositionLaw {
    let batch = setting.target_index / setting.batch_size;
    PositionLaw::KeptForAllEpochs(Weights::Uniform(batch..batch + 1))
}
