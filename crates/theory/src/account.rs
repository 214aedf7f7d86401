//! What is proven about each scheme: one entry point for all accountants.

use crate::buffer_weights::{block_weights, sliding_weights};
use crate::check_delta;
use crate::gaussian::Gaussian;
use crate::pld::Side;
use crate::shuffle_max::LargestOutput;
use crate::{pairs, poisson};
use misdeal_core::{Adjacency, BatchScheme, Bounds, Error, Result, Setting};

/// How Poisson sampling is accounted for.
pub const POISSON_METHOD: &str = "privacy-loss distribution (FFT)";
/// At most the fixed order's Gaussian, because each record is used once an epoch.
const FIXED_ORDER_UPPER: &str = "upper: fixed order";
/// The pair is conjectured, not proven, to be the worst for shuffling.
const EXACT_LOWER: &str = "lower: exact pair (FFT)";
/// The bound of Chua et al., where the pair is out of reach.
const LARGEST_OUTPUT_LOWER: &str = "lower: largest output (Chua et al.)";

/// Bounds on the epsilon of a setting's scheme at `delta`, over all data sets that are neighbours under zero-out
/// adjacency and all adversaries; the setting's threat model and seed do not enter, its target only for buffered schemes, where the
/// lower bound is for that record.
///
/// A lower bound is never too large, an upper bound never too small; a side that is not proven is `None`.
///
/// ```
/// use misdeal_core::{BatchScheme, Setting};
/// let shuffle = misdeal_theory::account::bounds(&Setting::default(), 1e-5)?;
/// let poisson = Setting { scheme: BatchScheme::Poisson, ..Setting::default() };
/// let poisson = misdeal_theory::account::bounds(&poisson, 1e-5)?;
/// assert!(shuffle.epsilon_lower_bound > poisson.epsilon_upper_bound); // 4.06 against 0.718
/// # Ok::<(), misdeal_core::Error>(())
/// ```
///
/// # Errors
/// A delta that is not between 0 and 1.
pub fn bounds(setting: &Setting, delta: f64) -> Result<Bounds> {
    check_delta(delta)?;
    let (noise, steps, epochs) = (setting.noise_multiplier, setting.steps_per_epoch, setting.epochs);
    match (setting.adjacency, setting.scheme) {
        (Adjacency::ZeroOut, _) | (Adjacency::AddRemove, BatchScheme::Poisson) => {}
        _ => {
            return Ok(Bounds::unknown(
                "only zero-out adjacency (and add-remove for poisson) is accounted for",
            ));
        }
    }
    let known_batch = Gaussian::fixed_order(noise, epochs);
    let closed_form = || Bounds {
        epsilon_lower_bound: Some(known_batch.epsilon_lower_bound(delta)),
        epsilon_upper_bound: Some(known_batch.epsilon_upper_bound(delta)),
        method: "closed form".into(),
    };
    let once_an_epoch = |lower: Option<f64>, method: &str| {
        let upper = known_batch.epsilon_upper_bound(delta);
        Bounds {
            epsilon_lower_bound: lower.map(|lower| lower.min(upper)),
            epsilon_upper_bound: Some(upper),
            method: format!("{method}; {FIXED_ORDER_UPPER}"),
        }
    };
    let hidden_among = |batches: u64, noise: f64, epochs: u64| {
        let lower = shuffle_lower_bound(batches, noise, epochs, delta)?;
        let method = if is_in_reach(noise, delta) { EXACT_LOWER } else { LARGEST_OUTPUT_LOWER };
        Ok::<_, Error>(once_an_epoch(Some(lower), method))
    };
    let behind_weights = |weights: &[f64]| {
        let lower = weighted_lower_bound(weights, noise, epochs, delta)?;
        Ok::<_, Error>(once_an_epoch(
            lower,
            if lower.is_some() { EXACT_LOWER } else { "lower: out of reach at this delta" },
        ))
    };
    Ok(match setting.scheme {
        BatchScheme::Poisson => {
            poisson_bounds(noise, setting.sampling_probability(), setting.steps(), delta)?
        }
        BatchScheme::Shuffle => hidden_among(steps, noise, epochs)?,
        // The sums over epochs are sufficient: one epoch at less noise.
        BatchScheme::ShuffleOnce => hidden_among(steps, noise / (epochs as f64).sqrt(), 1)?,
        BatchScheme::PartialShuffle { buffer_size } => {
            match batches_of_block(buffer_size, setting.batch_size) {
                Some(1) => closed_form(),
                Some(batches) => hidden_among(batches, noise, epochs)?,
                None => behind_weights(&block_weights(setting, buffer_size))?,
            }
        }
        BatchScheme::BatchThenShuffle => {
            let pair = batch_then_shuffle(noise, steps, setting.batch_size);
            let lower = pair.composed_epsilon_lower_bound(epochs, delta);
            once_an_epoch(Some(lower), LARGEST_OUTPUT_LOWER)
        }
        BatchScheme::FixedOrder | BatchScheme::StreamShuffle { buffer_size: 1 } => closed_form(),
        BatchScheme::StreamShuffle { buffer_size } => behind_weights(&sliding_weights(setting, buffer_size))?,
        BatchScheme::BallsInBins if noise < 0.5 * pairs::LEAST_NOISE_MULTIPLIER => {
            once_an_epoch(None, "lower: out of reach at this noise")
        }
        BatchScheme::BallsInBins => {
            let found = pairs::balls_in_bins(noise, steps, epochs, delta)?;
            Bounds {
                epsilon_lower_bound: Some(found.epsilon_lower_bound),
                epsilon_upper_bound: Some(
                    found.epsilon_upper_bound.min(known_batch.epsilon_upper_bound(delta)),
                ),
                method: "dominating pair (FFT)".into(),
            }
        }
        BatchScheme::WithoutReplacement => {
            Bounds::unknown("nobody has proven a bound under zero-out adjacency")
        }
    })
}

/// Bounds for Poisson sampling with any probability and number of steps.
///
/// # Errors
/// Names the argument that is out of range.
pub fn poisson_bounds(
    noise_multiplier: f64,
    sampling_probability: f64,
    steps: u64,
    delta: f64,
) -> Result<Bounds> {
    let interval = poisson::epsilon(noise_multiplier, sampling_probability, steps, delta)?;
    Ok(Bounds {
        epsilon_lower_bound: Some(interval.epsilon_lower_bound),
        epsilon_upper_bound: Some(interval.epsilon_upper_bound),
        method: POISSON_METHOD.into(),
    })
}

/// Whether shuffling's exact pair can be computed.
fn is_in_reach(noise: f64, delta: f64) -> bool {
    delta > pairs::LEAST_DELTA && noise >= pairs::LEAST_NOISE_MULTIPLIER
}

/// The better of the exact pair's bound and that of Chua et al. from the largest output.
fn shuffle_lower_bound(batches: u64, noise: f64, epochs: u64, delta: f64) -> Result<f64> {
    let largest = LargestOutput::shuffle(noise, batches).composed_epsilon_lower_bound(epochs, delta);
    if !is_in_reach(noise, delta) {
        return Ok(largest);
    }
    Ok(pairs::shuffle(noise, batches, epochs, delta)?.epsilon_lower_bound.max(largest))
}

/// The exact pair's bound where batch t holds the target with probability `weights[t]`.
fn weighted_lower_bound(weights: &[f64], noise: f64, epochs: u64, delta: f64) -> Result<Option<f64>> {
    if !is_in_reach(noise, delta) {
        return Ok(None);
    }
    let groups = pairs::grouped(weights, Side::Lower, pairs::WEIGHT_BINS);
    let pair = pairs::ShiftPair::with_groups(noise, 2.0, 1.0, &groups)?;
    Ok(Some(pairs::interval(&pair, pairs::Target { epochs, delta })?.epsilon_lower_bound))
}

/// Batches over which a block of `buffer_size` records is spread evenly.
pub(crate) fn batches_of_block(buffer_size: u64, batch_size: u64) -> Option<u64> {
    if buffer_size.is_multiple_of(batch_size) {
        Some(buffer_size / batch_size)
    } else {
        batch_size.is_multiple_of(buffer_size).then_some(1)
    }
}

/// The target's batch stands out by the gradients of all its records: means 2B and 2B - 1. The adversary may use
/// fewer of them, so B is cut where more would change nothing but rounding.
fn batch_then_shuffle(noise_multiplier: f64, steps_per_epoch: u64, batch_size: u64) -> LargestOutput {
    let opposing = (batch_size as f64).min((40.0 * noise_multiplier).ceil().max(1.0));
    LargestOutput {
        noise_multiplier,
        steps_per_epoch,
        mean_in: 2.0 * opposing,
        mean_out: 2.0 * opposing - 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(scheme: BatchScheme, noise_multiplier: f64, epochs: u64) -> Bounds {
        bounds(&Setting { scheme, noise_multiplier, epochs, ..Setting::default() }, 1e-5).unwrap()
    }

    #[test]
    fn every_scheme_answers_in_order() {
        for name in BatchScheme::NAMES {
            let buffer = name.starts_with("partial") || name.starts_with("stream");
            let scheme = BatchScheme::from_name(name, buffer.then_some(500)).unwrap();
            for (noise, epochs) in [(0.011, 10), (0.04, 1), (0.5, 1), (1.0, 10), (5.0, 3)] {
                let found = at(scheme, noise, epochs);
                if let (Some(lower), Some(upper)) = (found.epsilon_lower_bound, found.epsilon_upper_bound) {
                    assert!(0.0 <= lower && lower <= upper, "{name} {found:?}");
                }
                assert!(!found.method.is_empty());
            }
        }
    }

    #[test]
    fn special_cases_coincide() {
        // A buffer of one batch is a fixed order, a buffer of everything a shuffle.
        let fixed = at(BatchScheme::FixedOrder, 1.0, 4);
        assert_eq!(at(BatchScheme::PartialShuffle { buffer_size: 100 }, 1.0, 4), fixed);
        assert_eq!(at(BatchScheme::PartialShuffle { buffer_size: 20 }, 1.0, 4), fixed);
        let shuffle = at(BatchScheme::Shuffle, 1.0, 4);
        assert_eq!(at(BatchScheme::PartialShuffle { buffer_size: 10_000 }, 1.0, 4), shuffle);
        assert_eq!(at(BatchScheme::StreamShuffle { buffer_size: 1 }, 1.0, 4), fixed);
        let sliding = at(BatchScheme::StreamShuffle { buffer_size: 10_000 }, 1.0, 1);
        let full = at(BatchScheme::Shuffle, 1.0, 1);
        assert!((sliding.epsilon_lower_bound.unwrap() - full.epsilon_lower_bound.unwrap()).abs() < 1e-3);
        // A smaller buffer hides less.
        let lower = |scheme| at(scheme, 1.0, 1).epsilon_lower_bound.unwrap();
        let blocks =
            [10_000, 1_500, 550, 150].map(|buffer_size| lower(BatchScheme::PartialShuffle { buffer_size }));
        assert!(blocks.is_sorted(), "{blocks:?}");
        let buffers =
            [10_000, 1_500, 550, 150].map(|buffer_size| lower(BatchScheme::StreamShuffle { buffer_size }));
        assert!(buffers.is_sorted(), "{buffers:?}");
        // With a hundred opposing records the batch is recognised, so the bounds meet.
        let ordered = at(BatchScheme::BatchThenShuffle, 1.0, 1);
        assert!(ordered.epsilon_lower_bound.unwrap() > 0.9999 * ordered.epsilon_upper_bound.unwrap());
    }

    #[test]
    fn other_adjacencies_are_refused_by_name() {
        let setting = Setting { adjacency: Adjacency::ReplaceOne, ..Setting::default() };
        let found = bounds(&setting, 1e-5).unwrap();
        assert_eq!((found.epsilon_lower_bound, found.epsilon_upper_bound), (None, None));
        assert!(found.method.contains("zero-out"));
        assert!(bounds(&Setting::default(), 0.0).is_err());
    }
}
