//! The probabilities of a record's batch after a shuffle buffer. Proof: `docs/proofs/buffers.md`.

use libm::{expm1, log1p};
use misdeal_core::Setting;

/// The most batches that are listed. If there are more, neighbours are averaged.
const MOST_LISTED: u64 = 4 << 20;

/// The probabilities of an epoch's batches. If there are too many, means of `each` neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchWeights {
    pub listed: Vec<f64>,
    /// The number of batches for each listed value.
    pub each: u64,
    /// The mean and the number of the last few batches, fewer than `each`.
    pub rest: Option<(f64, u64)>,
}

impl BatchWeights {
    /// The weights of the batches `first..end`.
    ///
    /// `between(from, to)` is the probability of the batches from `from` to before `to`.
    fn of(first: u64, end: u64, most_listed: u64, between: impl Fn(u64, u64) -> f64) -> Self {
        let batches = end - first;
        let each = batches.div_ceil(most_listed);
        let mean = |from: u64, to: u64| {
            let all = between(from, to);
            if to - from == 1 { all } else { all / (to - from) as f64 }
        };
        let whole = batches / each;
        let listed = (0..whole).map(|i| mean(first + i * each, first + (i + 1) * each)).collect();
        let rest = first + whole * each;
        BatchWeights { listed, each, rest: (rest < end).then(|| (mean(rest, end), end - rest)) }
    }
}

/// The weights for blocks of `buffer_size` records that are each permuted.
///
/// The weight of batch t is the share of the target's block that lies in it. Only the batches that the block touches
/// are listed.
pub fn block_weights(setting: &Setting, buffer_size: u64) -> BatchWeights {
    block_weights_of(setting, buffer_size, MOST_LISTED)
}

fn block_weights_of(setting: &Setting, buffer_size: u64, most_listed: u64) -> BatchWeights {
    let start = setting.target_index / buffer_size * buffer_size;
    let end = (start + buffer_size).min(setting.dataset_size());
    let batch = setting.batch_size;
    BatchWeights::of(start / batch, end.div_ceil(batch), most_listed, |from, to| {
        (end.min(to * batch) - start.max(from * batch)) as f64 / (end - start) as f64
    })
}

/// The weights for a sliding buffer of K records.
///
/// With n records, the target enters the buffer before emission j0 = max(0, i - K + 1). It leaves at emission j < n - K
/// with probability (1/K)(1 - 1/K)^(j - j0), and otherwise at each of the last K emissions with equal probability.
/// Batches before the first possible one are left out.
pub fn sliding_weights(setting: &Setting, buffer_size: u64) -> BatchWeights {
    sliding_weights_of(setting, buffer_size, MOST_LISTED)
}

fn sliding_weights_of(setting: &Setting, buffer_size: u64, most_listed: u64) -> BatchWeights {
    if buffer_size == 1 {
        // A record that enters leaves at once.
        return BatchWeights { listed: vec![1.0], each: 1, rest: None };
    }
    let (n, batch) = (setting.dataset_size(), setting.batch_size);
    let enters = (setting.target_index + 1).saturating_sub(buffer_size);
    let exhausted = n - buffer_size;
    // P(still in the buffer before emission j), for j up to the stream's end.
    let log_stay = log1p(-1.0 / buffer_size as f64);
    let gone = |from: u64, to: u64| -expm1((to - from) as f64 * log_stay);
    let stays = |until: u64| libm::exp((until - enters) as f64 * log_stay);
    let left = stays(exhausted.max(enters));
    BatchWeights::of(enters / batch, setting.steps_per_epoch, most_listed, |from, to| {
        let (first, end) = (enters.max(from * batch), to * batch);
        let streaming_end = end.min(exhausted);
        let streamed = if first < streaming_end { stays(first) * gone(first, streaming_end) } else { 0.0 };
        let emptied = end.saturating_sub(first.max(exhausted)) as f64 / buffer_size as f64;
        streamed + left * emptied
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights emission by emission, as a loader computes them.
    fn sliding_by_hand(setting: &Setting, buffer_size: u64) -> Vec<f64> {
        let n = setting.dataset_size();
        let mut weights = vec![0.0; setting.steps_per_epoch as usize];
        let mut present = 1.0;
        for j in (setting.target_index + 1).saturating_sub(buffer_size)..n {
            let held = buffer_size.min(n - j) as f64;
            weights[(j / setting.batch_size) as usize] += present / held;
            present *= 1.0 - 1.0 / held;
        }
        weights
    }

    #[test]
    fn weights_are_those_of_the_loader() {
        for (batch_size, steps_per_epoch) in [(1, 12), (3, 5), (4, 4)] {
            for target_index in 0..batch_size * steps_per_epoch {
                let setting = Setting { batch_size, steps_per_epoch, target_index, ..Setting::default() };
                assert_eq!(sliding_weights(&setting, 1).listed, [1.0]);
                for buffer_size in 2..=setting.dataset_size() {
                    let ours = sliding_weights(&setting, buffer_size).listed;
                    let exact = sliding_by_hand(&setting, buffer_size);
                    let skipped = exact.len() - ours.len();
                    assert!(exact[..skipped].iter().all(|&weight| weight == 0.0));
                    for (a, b) in ours.iter().zip(&exact[skipped..]) {
                        assert!((a - b).abs() < 1e-13, "{setting:?} {buffer_size}: {ours:?} {exact:?}");
                    }
                    let block = block_weights(&setting, buffer_size).listed;
                    assert!(
                        (block.iter().sum::<f64>() - 1.0).abs() < 1e-13
                            && block.iter().all(|&weight| weight > 0.0)
                    );
                }
            }
        }
    }

    /// Averaged neighbours keep their sum. Earlier code listed 1e9 batches and used 8 GB.
    #[test]
    fn too_many_batches_are_averaged_and_none_is_lost() {
        let setting = Setting { batch_size: 3, steps_per_epoch: 101, target_index: 40, ..Setting::default() };
        for buffer_size in [2, 20, 70, 303] {
            for most in [1, 7, 50, 100] {
                for weights in [
                    sliding_weights_of(&setting, buffer_size, most),
                    block_weights_of(&setting, buffer_size, most),
                ] {
                    assert!(weights.listed.len() as u64 <= most);
                    let rest = weights.rest.map_or(0.0, |(mean, batches)| mean * batches as f64);
                    let sum = weights.listed.iter().sum::<f64>() * weights.each as f64 + rest;
                    assert!((sum - 1.0).abs() < 1e-12, "{buffer_size} {most}: {sum}");
                }
            }
        }
        let many = Setting { steps_per_epoch: 1_000_000_000, batch_size: 1, ..Setting::default() };
        assert!(sliding_weights(&many, 1000).listed.len() as u64 <= MOST_LISTED);
    }
}
