//! Every record joins every batch independently with the same probability.

use crate::{BatchRng, PositionLaw};
use crate::{Batches, Sampler};
use misdeal_core::Setting;
use rand::Rng;

/// Each of the T n pairs of batch and record is in with probability q = 1 / T, independently. Batch sizes are random,
/// binomial with mean B, and a batch may be empty.
///
/// The records passed over before the next one that is in are geometric, P(gap >= g) = (1 - q)^g, drawn as
/// floor(ln(1 - v) / ln(1 - q)) for a uniform v of 64 bits: an error below 2^-50 in each such probability.
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

    /// Records passed over before the next one that is in; none if there is but one batch, where q = 1.
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

/// In each step with probability q = 1 / T, independently.
pub(crate) fn law(setting: &Setting) -> PositionLaw {
    PositionLaw::EachStep { probability: setting.sampling_probability() }
}
