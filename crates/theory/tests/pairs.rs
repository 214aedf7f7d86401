//! The exact pairs beside what others found, and in order with the bounds that enclose them.

use misdeal_theory::gaussian::Gaussian;
use misdeal_theory::pairs::{PairInterval, ShiftPair, Target, interval};
use misdeal_theory::pld::Side;
use misdeal_theory::shuffle_max::LargestOutput;

const DELTA: f64 = 1e-5;

fn shuffle(noise: f64, steps: u64, epochs: u64) -> PairInterval {
    interval(&ShiftPair::shuffle(noise, steps).unwrap(), Target { epochs, delta: DELTA }).unwrap()
}

fn balls_in_bins(noise: f64, steps: u64, epochs: u64) -> PairInterval {
    interval(&ShiftPair::balls_in_bins(noise, steps).unwrap(), Target { epochs, delta: DELTA }).unwrap()
}

/// One epoch with unequal weights, each end from the weights that are grouped to its side.
fn weighted_shuffle(noise: f64, weights: &[f64]) -> PairInterval {
    let [lower, upper] = [Side::Lower, Side::Upper].map(|side| {
        let pair = ShiftPair::weighted_shuffle(noise, weights, side).unwrap();
        interval(&pair, Target { epochs: 1, delta: DELTA }).unwrap()
    });
    PairInterval { epsilon_upper_bound: upper.epsilon_upper_bound, ..lower }
}

fn relative_width(interval: PairInterval) -> f64 {
    interval.epsilon_upper_bound / interval.epsilon_lower_bound - 1.0
}

fn contains(interval: PairInterval, value: f64, digits: f64) -> bool {
    interval.epsilon_lower_bound - digits <= value && value <= interval.epsilon_upper_bound + digits
}

/// Values of independent prototypes, to the digits they were printed with.
#[test]
fn one_epoch_of_shuffling() {
    let cases = [
        (0.5, 100, 9.997, 5e-4),
        (1.0, 100, 4.06602, 5e-6),
        (1.5, 100, 1.46689, 5e-6),
        (3.3242, 100, 0.1213, 1e-4),
        (1.0, 1000, 2.88341, 5e-6),
        (1.5, 1000, 0.35604, 5e-6),
    ];
    for (noise, steps, expected, digits) in cases {
        let found = shuffle(noise, steps, 1);
        assert!(contains(found, expected, digits), "{noise} {steps}: {found:?}");
        assert!(relative_width(found) < 1e-4, "{noise} {steps}: {found:?}");
    }
}

/// The largest-output bounds of Chua et al. (for the second setting a sharper independent value), the fixed order's.
#[test]
fn many_epochs_of_shuffling_lie_between_the_largest_output_and_the_fixed_order() {
    let cases = [
        (1.00, 440, 509, 40.13, 349.8),
        (3.00, 11, 168, 7.70, 27.07),
        (0.79, 117, 10, 17.67, 24.41),
        (0.87, 195, 30, 20.34, 45.91),
        (0.73, 781, 50, 34.79, 87.40),
        (0.82, 254, 30, 23.25, 50.02),
    ];
    for (noise, steps, epochs, at_least, at_most) in cases {
        let found = shuffle(noise, steps, epochs);
        assert!(found.epsilon_lower_bound > at_least, "{noise} {steps} {epochs}: {found:?}");
        assert!(found.epsilon_upper_bound < at_most, "{noise} {steps} {epochs}: {found:?}");
        assert!(relative_width(found) < 5e-4, "{noise} {steps} {epochs}: {found:?}");
    }
}

/// An independent Monte Carlo value: 0.622, give or take 0.006.
#[test]
fn balls_in_bins_agrees_with_simulation() {
    let found = balls_in_bins(1.0, 100, 1);
    assert!((found.epsilon_lower_bound - 0.622).abs() < 0.006, "{found:?}");
    assert!(relative_width(found) < 1e-4, "{found:?}");
    let larger = balls_in_bins(1.0, 1000, 1);
    assert!(larger.epsilon_upper_bound < found.epsilon_lower_bound && relative_width(larger) < 1e-4);
    let composed = balls_in_bins(1.0, 100, 10);
    assert!(composed.epsilon_lower_bound > found.epsilon_upper_bound && relative_width(composed) < 1e-3);
    assert!(composed.epsilon_upper_bound < 10.0 * found.epsilon_lower_bound);
}

/// Settings whose reverse direction, steep window or small scale once spoiled the interval.
#[test]
fn composed_intervals_stay_narrow_at_the_edges() {
    for (noise, steps, epochs) in [(0.3, 100, 3), (100.0, 10, 5)] {
        let fixed = Gaussian::fixed_order(noise, epochs).epsilon_upper_bound(DELTA);
        for found in [shuffle(noise, steps, epochs), balls_in_bins(noise, steps, epochs)] {
            assert!(relative_width(found) < 1e-3 && found.epsilon_lower_bound < fixed, "{noise}: {found:?}");
        }
    }
}

#[test]
fn one_epoch_is_ordered_over_a_grid_of_settings() {
    for steps in [2, 10, 100, 1000] {
        let mut less_noise = f64::INFINITY;
        for noise in [0.15, 0.3, 0.5, 0.8, 1.2, 2.0, 3.5, 6.0] {
            let found = shuffle(noise, steps, 1);
            let bins = balls_in_bins(noise, steps, 1);
            let largest = LargestOutput::shuffle(noise, steps).epsilon_lower_bound(DELTA);
            let fixed = Gaussian::fixed_order(noise, 1).epsilon_upper_bound(DELTA);
            assert!(largest <= found.epsilon_upper_bound, "{noise} {steps}: {largest} {found:?}");
            assert!(found.epsilon_upper_bound <= fixed, "{noise} {steps}: {found:?} {fixed}");
            assert!(found.epsilon_lower_bound <= found.epsilon_upper_bound, "{noise} {steps}: {found:?}");
            assert!(bins.epsilon_lower_bound <= fixed, "{noise} {steps}: {bins:?}");
            assert!(found.epsilon_upper_bound < less_noise, "{noise} {steps}: more noise must protect more");
            assert!(
                found.epsilon_upper_bound - found.epsilon_lower_bound <= 1e-3 * found.epsilon_upper_bound,
                "{noise} {steps}: {found:?}"
            );
            less_noise = found.epsilon_lower_bound;
        }
    }
}

#[test]
fn refuses_what_makes_no_sense() {
    for (noise, steps) in [(0.09, 100), (0.001, 100), (2e4, 100), (f64::NAN, 100), (1.0, 0)] {
        assert!(ShiftPair::shuffle(noise, steps).is_err(), "{noise} {steps}");
    }
    let pair = ShiftPair::shuffle(1.0, 100).unwrap();
    for (epochs, delta) in [(0, DELTA), (1, 1e-15), (1, 1.0), (1, 1.5), (1, f64::NAN)] {
        assert!(interval(&pair, Target { epochs, delta }).is_err(), "{epochs} {delta}");
    }
}

#[test]
fn unequal_weights_are_between_fewer_and_more_batches() {
    // A ragged last block: 4 whole batches and two halves hide better than 5 batches, worse than 6.
    let ragged = weighted_shuffle(1.0, &[0.2, 0.2, 0.2, 0.2, 0.1, 0.1]);
    let (five, six) = (shuffle(1.0, 5, 1), shuffle(1.0, 6, 1));
    assert!(six.epsilon_upper_bound < ragged.epsilon_lower_bound, "{ragged:?} {six:?}");
    assert!(ragged.epsilon_upper_bound < five.epsilon_lower_bound, "{ragged:?} {five:?}");
    assert!(relative_width(ragged) < 1e-4, "{ragged:?}");

    let equal = weighted_shuffle(1.0, &[0.125; 8]);
    assert_eq!(equal, shuffle(1.0, 8, 1));

    // A streaming buffer: geometric weights, grouped from both sides.
    let geometric: Vec<f64> = (0..60).map(|t| 0.9_f64.powi(t)).collect();
    let stream = weighted_shuffle(1.0, &geometric);
    assert!(stream.epsilon_lower_bound < stream.epsilon_upper_bound && relative_width(stream) < 5e-3);
}
