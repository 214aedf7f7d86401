//! The scheme in which every record joins every batch independently, with the same probability.

use crate::{BatchRng, PositionLaw};
use crate::{Batches, Sampler};
use misdeal_core::Setting;
use rand::Rng;

/// The sampler: each of the T n pairs of batch and record is included with probability q = 1 / T, independently.
///
/// Batch sizes are random, binomial with mean B. A batch may be empty.
///
/// The number of records skipped before the next included one is geometric: P(gap >= g) = (1 - q)^g. It is drawn as
/// floor(ln(1 - v) / ln(1 - q)) for a uniform v of 64 bits. Each such probability has an error below 2^-50.
pub(crate) struct Poisson {
    batches: Batches,
    steps_per_epoch: u64,
    dataset_size: u64,
    log_out: f64,
    rng: BatchRng,
}

impl Poisson {
    pub(crate) fn new(setting: &Setting, rng: BatchRng) -> Self {
        Poisson {
            batches: Batches::with_room_for(setting),
            steps_per_epoch: setting.steps_per_epoch,
            dataset_size: setting.dataset_size(),
            log_out: libm::log1p(-setting.sampling_probability()),
            rng,
        }
    }

    /// The number of records skipped before the next included one; 0 if there is only one batch, where q = 1.
    fn gap(&mut self) -> u64 {
        let v = (self.rng.next_u64() as f64 + 0.5) * 2.0_f64.powi(-64);
        (libm::log1p(-v) / self.log_out) as u64
    }
}

impl Sampler for Poisson {
    fn next_epoch(&mut self) -> &Batches {
        self.batches.clear();
        for _ in 0..self.steps_per_epoch {
            let mut record = self.gap();
            while record < self.dataset_size {
                self.batches.records.push(record);
                record = self.gap().saturating_add(record + 1);
            }
            self.batches.end_batch();
        }
        &self.batches
    }
}

/// The position law: in each step with probability q = 1 / T, independently.
pub(crate) fn law(setting: &Setting) -> PositionLaw {
    PositionLaw::EachStep { probability: setting.sampling_probability() }
}
