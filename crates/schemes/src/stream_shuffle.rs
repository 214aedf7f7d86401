//! The scheme of a sliding buffer: each step emits a uniformly chosen slot, and the file's next record fills it.
//!
//! This is `shuffle(buffer_size)` of `tf.data`. Hugging Face's iterable data sets also did this, until they began to
//! refill by halves.

use crate::{BatchRng, PositionLaw, Weights};
use crate::{Batches, Sampler};
use misdeal_core::Setting;
use rand::distr::{Distribution, Uniform};
use rand::seq::SliceRandom;

/// The sampler: the buffer begins with the first K records.
///
/// Until the file ends, each emission takes a uniform slot and refills it. The K records that remain then leave in
/// uniform order. Epochs are independent.
pub(crate) struct StreamShuffle {
    batches: Batches,
    buffer: Vec<u64>,
    slots: Uniform<usize>,
    rng: BatchRng,
}

impl StreamShuffle {
    pub(crate) fn new(buffer_size: u64, setting: &Setting, rng: BatchRng) -> Self {
        let slots = Uniform::new(0, buffer_size as usize).expect("a buffer has a slot");
        StreamShuffle {
            batches: Batches::in_file_order(setting),
            buffer: vec![0; buffer_size as usize],
            slots,
            rng,
        }
    }
}

impl Sampler for StreamShuffle {
    fn next_epoch(&mut self) -> &Batches {
        let buffer_size = self.buffer.len();
        for (slot, record) in self.buffer.iter_mut().zip(0..) {
            *slot = record;
        }
        let last_refill = self.batches.records.len() - buffer_size;
        let (while_it_lasts, rest) = self.batches.records.split_at_mut(last_refill);
        for (emitted, next) in while_it_lasts.iter_mut().zip(buffer_size as u64..) {
            let slot = self.slots.sample(&mut self.rng);
            *emitted = std::mem::replace(&mut self.buffer[slot], next);
        }
        rest.copy_from_slice(&self.buffer);
        rest.shuffle(&mut self.rng);
        &self.batches
    }
}

/// The position law. Record i is in the buffer from emission j0 = max(0, i - K + 1) on. It is emitted
///
/// - as number j with probability (1/K) (1 - 1/K)^(j - j0) for j0 <= j < n - K,
/// - otherwise, with probability (1 - 1/K)^(n - K - j0), as one of the last K, uniformly.
///
/// A batch's weight is the sum over its emissions, in closed form. After the target's first batch the weights never
/// increase, so the list ends when they underflow to zero.
pub(crate) fn law(buffer_size: u64, setting: &Setting) -> PositionLaw {
    let batch_size = setting.batch_size;
    let entry = (setting.target_index + 1).saturating_sub(buffer_size);
    let last_refill = setting.dataset_size() - buffer_size;
    let log_stay = libm::log1p(-1.0 / buffer_size as f64);
    // (1 - 1/K)^emissions; for K = 1 and no emissions this is 0^0 = 1.
    let still_there =
        |emissions: u64| if emissions == 0 { 1.0 } else { libm::exp(emissions as f64 * log_stay) };
    let weight = |batch: u64| {
        let (start, end) = (entry.max(batch * batch_size), (batch + 1) * batch_size);
        let refilled = end.min(last_refill).saturating_sub(start);
        let leaves = if refilled == 0 { 0.0 } else { -libm::expm1(refilled as f64 * log_stay) };
        let among_last = end.saturating_sub(start.max(last_refill));
        leaves * still_there(start - entry)
            + among_last as f64 / buffer_size as f64 * still_there(last_refill - entry)
    };
    let first = entry / batch_size;
    let weights = (first..setting.steps_per_epoch).map(weight).take_while(|&weight| weight > 0.0).collect();
    PositionLaw::OnceAnEpoch(Weights::new(first, weights))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(buffer_size: u64, setting: &Setting) -> Weights {
        let PositionLaw::OnceAnEpoch(weights) = law(buffer_size, setting) else {
            panic!("a sliding buffer deals each record once an epoch")
        };
        weights
    }

    /// The weights from the definition: a product of probabilities, emission by emission.
    fn by_emission(buffer_size: u64, setting: &Setting) -> Vec<f64> {
        let (n, k) = (setting.dataset_size(), buffer_size as f64);
        let mut weights = vec![0.0; setting.steps_per_epoch as usize];
        let mut still_there = 1.0;
        for j in (setting.target_index + 1).saturating_sub(buffer_size)..n {
            let leaves = if j < n - buffer_size { still_there / k } else { 0.0 };
            weights[(j / setting.batch_size) as usize] +=
                if j < n - buffer_size { leaves } else { still_there / k };
            still_there -= leaves;
        }
        weights
    }

    #[test]
    fn closed_form_is_the_sum_over_emissions() {
        for (steps_per_epoch, batch_size) in [(1, 1), (5, 4), (7, 3), (4, 50)] {
            for target_index in 0..steps_per_epoch * batch_size {
                let setting = Setting { steps_per_epoch, batch_size, target_index, ..Setting::default() };
                for buffer_size in 1..=setting.dataset_size() {
                    let weights = weights(buffer_size, &setting);
                    for (batch, sum) in (0..).zip(by_emission(buffer_size, &setting)) {
                        let weight = weights.weight(batch);
                        assert!((weight - sum).abs() < 1e-14, "{buffer_size} {setting:?}: {weight} {sum}");
                    }
                }
            }
        }
    }

    #[test]
    fn smallest_buffer_keeps_the_order_and_largest_forgets_it() {
        for target_index in 0..20 {
            let setting = Setting { steps_per_epoch: 5, batch_size: 4, target_index, ..Setting::default() };
            let batch = target_index / 4;
            assert_eq!(weights(1, &setting), Weights::Uniform(batch..batch + 1));
            assert_eq!(weights(20, &setting), Weights::Uniform(0..5));
        }
    }

    #[test]
    fn a_billion_records_take_no_longer_and_sum_to_one() {
        for buffer_size in [1, 2, 1000, 999_999, 1_000_000_000] {
            for target_index in [0, 1, 123_456_789, 999_999_999] {
                let (steps_per_epoch, batch_size) = (10_000, 100_000);
                let setting = Setting { steps_per_epoch, batch_size, target_index, ..Setting::default() };
                let weights = weights(buffer_size, &setting);
                let range = weights.range();
                let sum: f64 = range.clone().map(|batch| weights.weight(batch)).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{buffer_size} {target_index}: {sum}");
                assert!(weights.weight(range.end - 1) > 0.0 && weights.weight(range.start) > 0.0);
            }
        }
    }
}
