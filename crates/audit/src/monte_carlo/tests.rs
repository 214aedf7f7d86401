//! The bounds beside theory's exact pairs.

use super::proposal::Tilt;
use super::*;
use crate::Unwatched;
use misdeal_core::BatchScheme;
use misdeal_theory::pairs::{PairInterval, ShiftPair, Target, interval};
use misdeal_theory::pld::Side;

const DELTA: f64 = 1e-5;
const SIGNIFICANCE: f64 = 0.05;

fn setting(noise_multiplier: f64, steps_per_epoch: u64, epochs: u64) -> Setting {
    Setting { noise_multiplier, steps_per_epoch, epochs, batch_size: 10, ..Setting::default() }
}

fn shuffle(noise: f64, steps: u64, epochs: u64) -> PairInterval {
    interval(&ShiftPair::shuffle(noise, steps).unwrap(), Target { epochs, delta: DELTA }).unwrap()
}

fn balls_in_bins(noise: f64, steps: u64, epochs: u64) -> PairInterval {
    interval(&ShiftPair::balls_in_bins(noise, steps).unwrap(), Target { epochs, delta: DELTA }).unwrap()
}

fn lower_bound(setting: &Setting, significance: f64, samples: u64) -> f64 {
    divergence_lower_bound(setting, DELTA, significance, samples, &Unwatched).unwrap().epsilon_lower_bound
}

/// Checks that the 5 % bound lies within `loss` (relative) of the exact interval's lower end, and, with a tenth of the samples,
/// that the bound at significance 1e-7 is not above its upper end: false-alarm rate 1e-7.
fn assert_sharp(setting: &Setting, samples: u64, exact: PairInterval, loss: f64) {
    let sure = lower_bound(setting, 1e-7, samples / 10);
    assert!(sure <= exact.epsilon_upper_bound, "{setting:?}: {sure} above {exact:?}");
    let usual = lower_bound(setting, SIGNIFICANCE, samples);
    assert!(usual >= (1.0 - loss) * exact.epsilon_lower_bound, "{usual} for {exact:?}");
}

/// A million samples, one epoch: within 0.5 % of the exact value.
#[test]
fn one_epoch_is_sharp() {
    for (noise, steps) in [(1.0, 100), (1.5, 100), (1.0, 1000), (3.3242, 100)] {
        let exact = shuffle(noise, steps, 1);
        assert_sharp(&setting(noise, steps, 1), 1_000_000, exact, 0.005);
    }
}

#[test]
fn balls_in_bins_is_sharp() {
    let setting = Setting { scheme: BatchScheme::BallsInBins, ..setting(1.0, 100, 1) };
    assert_sharp(&setting, 300_000, balls_in_bins(1.0, 100, 1), 0.007);
}

#[test]
fn many_epochs_are_sharp() {
    for (noise, steps, epochs, samples) in [(3.0, 11, 168, 30_000), (0.79, 117, 10, 100_000)] {
        let exact = shuffle(noise, steps, epochs);
        assert_sharp(&setting(noise, steps, epochs), samples, exact, 0.005);
    }
}

/// Unequal weights: a sliding buffer of half the data, whose exact interval comes from the same weights.
#[test]
fn unequal_weights_are_sharp() {
    let scheme = BatchScheme::StreamShuffle { buffer_size: 100 };
    let setting = Setting { scheme, ..setting(1.0, 20, 2) };
    let pair = ModelledPair::new(&setting).unwrap();
    let [lower, upper] = [Side::Lower, Side::Upper].map(|side| {
        let pair = ShiftPair::weighted_shuffle(1.0, &pair.weights, side).unwrap();
        interval(&pair, Target { epochs: 2, delta: DELTA }).unwrap()
    });
    let exact = PairInterval { epsilon_upper_bound: upper.epsilon_upper_bound, ..lower };
    assert_sharp(&setting, 100_000, exact, 0.01);
}

/// 200 seeds with few samples: the 5 % bound may exceed the exact value in 29 of them at most (a binomial tail of 1e-7).
fn assert_covers(setting: &Setting, exact: f64, bound: impl Fn(&Setting) -> f64) -> f64 {
    let bounds: Vec<f64> = (0..200).map(|seed| bound(&Setting { seed, ..setting.clone() })).collect();
    let above = bounds.iter().filter(|&&bound| bound > exact).count();
    assert!(above <= 29, "{setting:?}: {above} of 200 bounds above {exact}");
    bounds.iter().sum::<f64>() / 200.0
}

#[test]
fn bounds_hold_as_often_as_they_say() {
    for (noise, steps, epochs) in [(1.0, 20, 1), (2.0, 8, 3)] {
        let exact = shuffle(noise, steps, epochs).epsilon_upper_bound;
        let average = assert_covers(&setting(noise, steps, epochs), exact, |setting| {
            lower_bound(setting, SIGNIFICANCE, 4000)
        });
        assert!(average > 0.93 * exact, "{average} for {exact}");
    }
}

/// Tilts to the wrong side, much too far, and none at all: bounds hold all the same, and are smaller than with the pilot's.
#[test]
fn a_bad_tilt_only_loosens() {
    let setting = setting(1.0, 20, 2);
    let exact = shuffle(1.0, 20, 2).epsilon_upper_bound;
    let good = lower_bound(&setting, SIGNIFICANCE, 4000);
    for (everywhere, target) in [(0.0, 2.0), (0.0, 12.0), (-0.5, 1.0), (1.5, 2.0), (0.0, 0.0)] {
        let average = assert_covers(&setting, exact, |setting| {
            let (pair, stream) = (ModelledPair::new(setting).unwrap(), Stream::new(&setting.hash()));
            let question = Question { delta: DELTA, significance: SIGNIFICANCE, samples: 4000 };
            let pilot = Pilot::new(&pair, &stream, question, &Unwatched);
            let strategy = pilot.strategy_for(Tilt { everywhere, target }).unwrap();
            bound(&pair, &stream, question, strategy, &Unwatched).unwrap().epsilon_lower_bound
        });
        assert!(average < good, "{everywhere} {target}: {average}, {good} with the pilot's tilt");
    }
}

/// The normal approximation at a level of 1e-6, so that chance alone fails it once in a million.
#[test]
fn intervals_hold_the_exact_pair() {
    let bins = Setting { scheme: BatchScheme::BallsInBins, ..setting(1.0, 100, 1) };
    let exact = [shuffle(1.0, 100, 1), balls_in_bins(1.0, 100, 1)];
    for (setting, exact) in [setting(1.0, 100, 1), bins].iter().zip(exact) {
        let found = divergence_lower_bound(setting, DELTA, 1e-6, 400_000, &Unwatched).unwrap();
        let [low, high] = found.epsilon_interval;
        assert!(low < found.epsilon_estimate && found.epsilon_estimate < high, "{found:?}");
        assert!(low < exact.epsilon_upper_bound && exact.epsilon_lower_bound < high, "{found:?} {exact:?}");
        assert!(high - low < 0.02 * high, "{found:?}");
    }
}

#[test]
fn the_number_of_cores_changes_nothing() {
    let [one, three] = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            divergence_lower_bound(&setting(1.0, 30, 2), DELTA, SIGNIFICANCE, 40_000, &Unwatched).unwrap()
        })
    });
    assert_eq!(one, three);
    assert!(one.method.contains("modelled pair, no verdict on an implementation"));
}

struct Impatient;

impl Progress for Impatient {
    fn observed(&self, _done: u64, _total: u64) {}

    fn is_interrupted(&self) -> bool {
        true
    }
}

#[test]
fn refuses_and_stops() {
    let usual = Setting::default();
    assert!(divergence_lower_bound(&usual, 0.0, 0.05, 10_000, &Unwatched).is_err());
    assert!(divergence_lower_bound(&usual, 1e-5, 1.0, 10_000, &Unwatched).is_err());
    assert!(divergence_lower_bound(&usual, 1e-5, 0.05, 10, &Unwatched).is_err());
    let stopped = divergence_lower_bound(&usual, 1e-5, 0.05, 10_000, &Impatient);
    assert!(matches!(stopped, Err(Error::SimulationInterrupted)));
}
