//! Where a buffer can put a record: the probabilities of the batches of an epoch. Proof: `docs/proofs/buffers.md`.

use libm::{expm1, log1p};
use misdeal_core::Setting;

/// Blocks of `buffer_size` records, each permuted: batch t holds the target with the share of its block that falls into t.
/// Only the batches that the block touches are listed.
pub fn block_weights(setting: &Setting, buffer_size: u64) -> Vec<f64> {
    let start = setting.target_index / buffer_size * buffer_size;
    let end = (start + buffer_size).min(setting.dataset_size());
    let batch = setting.batch_size;
    (start / batch..end.div_ceil(batch))
        .map(|t| (end.min((t + 1) * batch) - start.max(t * batch)) as f64 / (end - start) as f64)
        .collect()
}

/// A sliding buffer of K records: with n records and the target entering it before emission j0 = max(0, i - K + 1), it
/// leaves at emission j < n - K with probability (1/K)(1 - 1/K)^(j - j0), and else at any of the last K alike.
/// Batches before the first possible one are left out.
pub fn sliding_weights(setting: &Setting, buffer_size: u64) -> Vec<f64> {
    if buffer_size == 1 {
        // Whatever enters leaves at once.
        return vec![1.0];
    }
    let (n, batch) = (setting.dataset_size(), setting.batch_size);
    let enters = (setting.target_index + 1).saturating_sub(buffer_size);
    let exhausted = n - buffer_size;
    // P(still in the buffer before emission j), for j up to the stream's end.
    let log_stay = log1p(-1.0 / buffer_size as f64);
    let gone = |from: u64, to: u64| -expm1((to - from) as f64 * log_stay);
    let stays = |until: u64| libm::exp((until - enters) as f64 * log_stay);
    let left = stays(exhausted.max(enters));
    (enters / batch..setting.steps_per_epoch)
        .map(|t| {
            let (first, end) = (enters.max(t * batch), (t + 1) * batch);
            let streaming_end = end.min(exhausted);
            let streamed =
                if first < streaming_end { stays(first) * gone(first, streaming_end) } else { 0.0 };
            let emptied = end.saturating_sub(first.max(exhausted)) as f64 / buffer_size as f64;
            streamed + left * emptied
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Emission by emission, as the loader does it.
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
                assert_eq!(sliding_weights(&setting, 1), [1.0]);
                for buffer_size in 2..=setting.dataset_size() {
                    let ours = sliding_weights(&setting, buffer_size);
                    let exact = sliding_by_hand(&setting, buffer_size);
                    let skipped = exact.len() - ours.len();
                    assert!(exact[..skipped].iter().all(|&weight| weight == 0.0));
                    for (a, b) in ours.iter().zip(&exact[skipped..]) {
                        assert!((a - b).abs() < 1e-13, "{setting:?} {buffer_size}: {ours:?} {exact:?}");
                    }
                    let block = block_weights(&setting, buffer_size);
                    assert!(
                        (block.iter().sum::<f64>() - 1.0).abs() < 1e-13
                            && block.iter().all(|&weight| weight > 0.0)
                    );
                }
            }
        }
    }
}
