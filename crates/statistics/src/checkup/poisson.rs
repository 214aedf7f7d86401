//! Are batches those of Poisson sampling: sizes, and how often a record appears in an epoch?

use super::Outcome;
use super::record::{Claim, RunRecord};
use crate::binomial;

/// Tests the sizes of batches, which are independent Bin(N, q).
///
/// Three counts are binomial: all records drawn, the batches of exactly the expected size, and those above it. The first
/// and the last are tested on both sides. `measured` is the share of batches of exactly the expected size.
pub(super) fn batch_sizes(runs: &[RunRecord], claim: &Claim) -> Outcome {
    let sizes = || runs.iter().flat_map(|run| &run.batch_sizes).copied();
    let steps = sizes().count() as f64;
    let (records, q) = (claim.dataset_size, claim.sampling_probability);
    let expected = claim.batch_size.round();
    let [from, _] = binomial::tails(expected, records, q);
    let [above, _] = binomial::tails(expected + 1.0, records, q);
    let equal = sizes().filter(|&size| size as f64 == expected).count() as f64;
    let larger = sizes().filter(|&size| size as f64 > expected).count() as f64;
    let tests = [
        two_sided(sizes().sum::<u64>() as f64, records * steps, q),
        binomial::tails(equal, steps, from - above)[0],
        two_sided(larger, steps, above),
    ];
    smallest(&tests, equal / steps).only_if(steps > 0.0)
}

/// Tests how often canaries' records are in the batches of an epoch, which is Bin(T, q), independently.
///
/// Two counts are binomial: all appearances (both sides), and the records that appear exactly once in an epoch.
/// `measured` is the share of those.
pub(super) fn appearances(runs: &[RunRecord], claim: &Claim) -> Outcome {
    let (steps, q) = (claim.steps_per_epoch, claim.sampling_probability);
    let counts: Vec<usize> = runs.iter().flat_map(|run| each_epoch(run, steps)).collect();
    let total: usize = counts.iter().sum();
    let once = counts.iter().filter(|count| **count == 1).count() as f64;
    let epochs = counts.len() as f64;
    let chance = steps as f64 * q * libm::pow(1.0 - q, steps as f64 - 1.0);
    let tests = [two_sided(total as f64, epochs * steps as f64, q), binomial::tails(once, epochs, chance)[0]];
    smallest(&tests, once / epochs).only_if(epochs > 0.0)
}

/// How often each canary's record appears in each whole epoch of a run.
fn each_epoch(run: &RunRecord, steps_per_epoch: usize) -> Vec<usize> {
    let table = (run.canaries * steps_per_epoch).max(1);
    let epochs = run.placed.chunks_exact(table);
    let count =
        |epoch: &[bool], canary| epoch.iter().skip(canary).step_by(run.canaries).filter(|is| **is).count();
    epochs.flat_map(|epoch| (0..run.canaries).map(move |canary| count(epoch, canary))).collect()
}

fn two_sided(count: f64, trials: f64, probability: f64) -> f64 {
    let at_least = binomial::tails(count, trials, probability)[0];
    let at_most = binomial::tails(count + 1.0, trials, probability)[1];
    (2.0 * at_least.min(at_most)).min(1.0)
}

fn smallest(tests: &[f64], measured: f64) -> Outcome {
    Outcome::of(tests.iter().copied().fold(1.0, f64::min) * tests.len() as f64, measured)
}
