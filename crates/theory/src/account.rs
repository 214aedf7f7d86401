//! What is proven about each scheme: one entry point for all accountants. Proofs: `docs/proofs/overview.md`.

use crate::gaussian::Gaussian;
use crate::known::{AtLeast, Known};
use crate::pairs::{self, Target};
use crate::told_uses::ToldUses;
use crate::{check_delta, poisson};
use misdeal_core::{Adjacency, BatchScheme, Bounds, Result, Setting};

/// How Poisson sampling is accounted for.
pub const POISSON_METHOD: &str = "privacy-loss distribution (FFT)";
/// At most the fixed order's Gaussian, because each record is used once an epoch.
const FIXED_ORDER_UPPER: &str = "upper: fixed order";
/// A valid lower bound for shuffling, not an upper bound: adaptive gradients can leak more than this pair.
const EXACT_LOWER: &str = "lower: exact pair (FFT)";
/// A delta that the exact pairs do not reach.
const OUT_OF_REACH: &str = "lower: out of reach at this delta";
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
    let (noise, epochs) = (setting.noise_multiplier, setting.epochs);
    match (setting.adjacency, setting.scheme) {
        (Adjacency::ZeroOut, _) | (Adjacency::AddRemove, BatchScheme::Poisson) => {}
        _ => {
            return Ok(Bounds::unknown(
                "only zero-out adjacency (and add-remove for poisson) is accounted for",
            ));
        }
    }
    let fixed_order = Gaussian::fixed_order(noise, epochs);
    let at_most = fixed_order.epsilon_upper_bound(delta);
    Ok(match Known::of(setting)? {
        Known::FixedOrder => Bounds {
            epsilon_lower_bound: Some(fixed_order.epsilon_lower_bound(delta)),
            epsilon_upper_bound: Some(at_most),
            method: "closed form".into(),
        },
        Known::Poisson => poisson_bounds(noise, setting.sampling_probability(), setting.steps(), delta)?,
        Known::DominatingPair(_) if delta <= pairs::LEAST_DELTA => Bounds {
            epsilon_lower_bound: None,
            epsilon_upper_bound: Some(at_most),
            method: format!("{OUT_OF_REACH}; {FIXED_ORDER_UPPER}"),
        },
        Known::DominatingPair(pair) => {
            let found = pairs::interval(&pair, Target { epochs, delta })?;
            Bounds {
                epsilon_lower_bound: Some(found.epsilon_lower_bound),
                epsilon_upper_bound: Some(found.epsilon_upper_bound.min(at_most)),
                method: "dominating pair (FFT)".into(),
            }
        }
        Known::OnceAnEpoch(at_least) => {
            let (lower, method) = lower_bound(&at_least, delta)?;
            Bounds {
                epsilon_lower_bound: lower.map(|lower| lower.min(at_most)),
                epsilon_upper_bound: Some(at_most),
                method: format!("{method}; {FIXED_ORDER_UPPER}"),
            }
        }
        Known::Subsets => {
            let (probability, steps) = (setting.sampling_probability(), setting.steps());
            let poisson = poisson_bounds(noise, probability, steps, delta)?;
            let told = ToldUses { noise_multiplier: noise, sampling_probability: probability, steps };
            let upper = if probability < 1.0 {
                Some(told.epsilon_upper_bound(delta))
            } else {
                poisson.epsilon_upper_bound
            };
            Bounds {
                epsilon_upper_bound: upper,
                method: "lower: poisson's; upper: told the steps that use the record".into(),
                ..poisson
            }
        }
    })
}

/// The best lower bound that is known and in reach, and how it was computed.
fn lower_bound(known: &AtLeast, delta: f64) -> Result<(Option<f64>, &'static str)> {
    let epochs = known.epochs;
    let exact = match &known.pair {
        Some(pair) if delta > pairs::LEAST_DELTA => {
            Some(pairs::interval(pair, Target { epochs, delta })?.epsilon_lower_bound)
        }
        _ => None,
    };
    let largest = known.largest_output.map(|largest| largest.composed_epsilon_lower_bound(epochs, delta));
    let method = match (exact, largest) {
        (Some(_), _) => EXACT_LOWER,
        (None, Some(_)) => LARGEST_OUTPUT_LOWER,
        (None, None) if known.pair.is_some() => OUT_OF_REACH,
        (None, None) => "lower: out of reach at this noise",
    };
    Ok(([exact, largest].into_iter().flatten().reduce(f64::max), method))
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
    fn every_scheme_answers_at_the_least_delta() {
        for name in BatchScheme::NAMES {
            let buffer = name.starts_with("partial") || name.starts_with("stream");
            let scheme = BatchScheme::from_name(name, buffer.then_some(500)).unwrap();
            let found = bounds(&Setting { scheme, ..Setting::default() }, 1e-300).unwrap();
            assert!(found.epsilon_upper_bound.is_some_and(f64::is_finite), "{name} {found:?}");
            assert!(found.epsilon_lower_bound <= found.epsilon_upper_bound, "{name} {found:?}");
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
    fn little_noise_falls_back_on_the_largest_output() {
        let found = at(BatchScheme::Shuffle, 0.05, 1);
        let exact = Gaussian::fixed_order(0.05, 1).epsilon_lower_bound(1e-5);
        let (lower, upper) = (found.epsilon_lower_bound.unwrap(), found.epsilon_upper_bound.unwrap());
        assert!(lower <= exact && exact <= upper && upper < 1.001 * lower, "{found:?}");
        assert!(found.method.contains("largest output"), "{found:?}");
    }

    #[test]
    fn a_side_out_of_reach_says_whether_noise_or_delta_is_in_the_way() {
        let scheme = BatchScheme::StreamShuffle { buffer_size: 500 };
        for (noise_multiplier, delta, reason) in
            [(0.05, 1e-5, "at this noise"), (1.0, 1e-16, "at this delta")]
        {
            let found = bounds(&Setting { scheme, noise_multiplier, ..Setting::default() }, delta).unwrap();
            assert!(found.epsilon_lower_bound.is_none() && found.method.contains(reason), "{found:?}");
        }
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
