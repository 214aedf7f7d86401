//! The scheme in which every record joins one uniformly chosen batch, independently of the others.

use crate::{BatchRng, PositionLaw, Weights};
use crate::{Batches, Sampler};
use misdeal_core::Setting;
use rand::distr::{Distribution, Uniform};

/// The sampler: all T^n assignments of records to batches are equally likely, independently in each epoch.
///
/// Batch sizes are random, binomial with mean B. A batch may be empty.
pub(crate) struct BallsInBins {
    batches: Batches,
    /// The batch of every record.
    bins: Vec<u32>,
    uniform: Uniform<u32>,
    rng: BatchRng,
}

impl BallsInBins {
    pub(crate) fn new(setting: &Setting, rng: BatchRng) -> Self {
        // The number fits 32 bits, because a run has at most 2^31 steps.
        let uniform = Uniform::new(0, setting.steps_per_epoch as u32).expect("an epoch has a batch");
        let bins = vec![0; setting.dataset_size() as usize];
        BallsInBins { batches: Batches::in_file_order(setting), bins, uniform, rng }
    }
}

impl Sampler for BallsInBins {
    fn next_epoch(&mut self) -> &Batches {
        // A counting sort by bin: count the records, set `ends` to the start of each bin, then fill. Filling moves each
        // entry to its bin's end.
        let Batches { records, ends } = &mut self.batches;
        ends.fill(0);
        for bin in &mut self.bins {
            *bin = self.uniform.sample(&mut self.rng);
            ends[*bin as usize] += 1;
        }
        let mut start = 0;
        for end in ends.iter_mut() {
            start += std::mem::replace(end, start);
        }
        for (record, &bin) in (0..).zip(&self.bins) {
            let place = &mut ends[bin as usize];
            records[*place] = record;
            *place += 1;
        }
        &self.batches
    }
}

/// The position law: every batch with probability 1 / T.
pub(crate) fn law(setting: &Setting) -> PositionLaw {
    PositionLaw::OnceAnEpoch(Weights::Uniform(0..setting.steps_per_epoch))
}
