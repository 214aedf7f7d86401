//! The scheme of the paper's buffer: blocks of consecutive records are each permuted, then cut into batches.

use crate::{BatchRng, PositionLaw, Weights};
use crate::{Batches, Sampler};
use misdeal_core::Setting;
use rand::seq::SliceRandom;

/// The sampler: block k holds records k K to (k + 1) K - 1, and the last block holds the rest.
///
/// All orders of a block are equally likely, independently of the other blocks and epochs. No record leaves its block.
pub(crate) struct PartialShuffle {
    batches: Batches,
    buffer_size: usize,
    rng: BatchRng,
}

impl PartialShuffle {
    pub(crate) fn new(buffer_size: u64, setting: &Setting, rng: BatchRng) -> Self {
        PartialShuffle { batches: Batches::in_file_order(setting), buffer_size: buffer_size as usize, rng }
    }
}

impl Sampler for PartialShuffle {
    fn next_epoch(&mut self) -> &Batches {
        for block in self.batches.records.chunks_mut(self.buffer_size) {
            block.shuffle(&mut self.rng);
        }
        &self.batches
    }
}

/// The position law: the weight of batch t is the share of the target's block that lies in it.
///
/// If the block has the places s to e - 1, the weight is
///
/// (min(e, (t + 1) B) - max(s, t B)) / (e - s).
///
/// The weights are uniform if B divides s and e, or if the block lies within one batch.
pub(crate) fn law(buffer_size: u64, setting: &Setting) -> PositionLaw {
    let batch_size = setting.batch_size;
    let start = setting.target_index / buffer_size * buffer_size;
    let end = setting.dataset_size().min(start + buffer_size);
    let first = start / batch_size;
    let share = |batch: u64| {
        let places = end.min((batch + 1) * batch_size) - start.max(batch * batch_size);
        places as f64 / (end - start) as f64
    };
    let weights = (first..end.div_ceil(batch_size)).map(share).collect();
    PositionLaw::OnceAnEpoch(Weights::new(first, weights))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(buffer_size: u64, target_index: u64) -> PositionLaw {
        law(buffer_size, &Setting { steps_per_epoch: 5, batch_size: 4, target_index, ..Setting::default() })
    }

    #[test]
    fn blocks_of_whole_batches_are_uniform() {
        let uniform = |range| PositionLaw::OnceAnEpoch(Weights::Uniform(range));
        for target in 0..20 {
            let batch = target / 4;
            assert_eq!(weights(20, target), uniform(0..5), "one block of all records is a shuffle");
            assert_eq!(weights(4, target), uniform(batch..batch + 1), "a block of one batch stays in it");
            assert_eq!(weights(1, target), uniform(batch..batch + 1), "a block of one record stays in place");
            let pair = batch / 2 * 2;
            assert_eq!(weights(8, target), uniform(pair..5.min(pair + 2)), "the last block is shorter");
        }
    }

    #[test]
    fn other_blocks_are_shared_out_by_places() {
        let listed = |first, weights: &[f64]| {
            PositionLaw::OnceAnEpoch(Weights::Listed { first, weights: weights.to_vec() })
        };
        assert_eq!(weights(10, 0), listed(0, &[0.4, 0.4, 0.2]));
        assert_eq!(weights(10, 10), listed(2, &[0.2, 0.4, 0.4]));
        assert_eq!(weights(7, 8), listed(1, &[1.0 / 7.0, 4.0 / 7.0, 2.0 / 7.0]));
        assert_eq!(weights(7, 19), listed(3, &[2.0 / 6.0, 4.0 / 6.0]));
    }
}
