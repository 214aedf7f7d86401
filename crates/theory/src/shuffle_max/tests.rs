//! Tests of the largest output.

use super::*;
use crate::gaussian::Gaussian;

/// Masses below the smallest normal float have few digits. Earlier code gave a bound above the closed form's by up
/// to 0.3.
#[test]
fn masses_that_underflow_show_nothing() {
    for delta in [1e-9, 1e-12, 1e-14] {
        for noise in [0.0305, 0.031, 0.032, 0.033, 0.034, 0.035] {
            let order = Gaussian::fixed_order(noise, 1).epsilon_upper_bound(delta);
            let found = LargestOutput::shuffle(noise, 1).epsilon_lower_bound(delta);
            assert!(found <= order, "noise {noise}, delta {delta}: {found} above {order}");
        }
    }
    let tiny = Masses { p: 1.0, q: f64::MIN_POSITIVE / 2.0 };
    assert_eq!(epsilon_of(tiny, 1e-9), 0.0);
}

/// Far out, the rounding of a level is a large part of a mass. Earlier code gave a bound above the closed form's by
/// up to 3e-13.
#[test]
fn rounding_of_far_levels_raises_no_bound() {
    for delta in [1e-300, 1e-250, 1e-100] {
        for noise in (0..40).map(|i| 1000.0 + 13.0 * f64::from(i)) {
            let order = Gaussian::fixed_order(noise, 1).epsilon_upper_bound(delta);
            let found = LargestOutput::shuffle(noise, 1).epsilon_lower_bound(delta);
            assert!(
                found <= order && found > 0.999 * order,
                "noise {noise}, delta {delta}: {found} above {order}"
            );
        }
    }
}

#[test]
fn one_epoch_agrees_with_the_published_formula() {
    let cases = [
        (0.5, 100, 9.9972),
        (1.0, 100, 4.0632),
        (1.5, 100, 1.4640),
        (0.5, 1000, 9.9966),
        (1.0, 1000, 2.8821),
        (1.5, 1000, 0.3483),
    ];
    for (noise, steps, expected) in cases {
        let ours = LargestOutput::shuffle(noise, steps).epsilon_lower_bound(1e-5);
        assert!((ours - expected).abs() < 6e-5, "noise {noise}, {steps} steps: {ours} for {expected}");
    }
}

/// Compares with losses rounded down and up on a fine grid (`testdata/scripts/shuffle_max.py`).
#[test]
fn many_epochs_lie_in_an_independent_bracket() {
    #[derive(serde::Deserialize)]
    struct Golden {
        composed: Vec<(f64, u64, u64, f64, f64, f64)>,
    }
    let golden: Golden = toml::from_str(include_str!("../../../../testdata/shuffle_max.toml")).unwrap();
    assert!(golden.composed.len() > 5);
    for (noise, steps, epochs, delta, low, high) in golden.composed {
        let ours = LargestOutput::shuffle(noise, steps).composed_epsilon_lower_bound(epochs, delta);
        assert!(0.9995 * low < ours && ours <= high, "{noise} {steps} {epochs}: {low} {ours} {high}");
    }
}

#[test]
fn a_single_batch_is_the_gaussian_pair() {
    for (noise, epochs) in [(0.7, 1), (1.0, 3), (4.0, 10)] {
        let exact = Gaussian::fixed_order(noise, epochs).epsilon_upper_bound(1e-5);
        let pair = LargestOutput::shuffle(noise, 1);
        let composed = pair.composed_epsilon_lower_bound(epochs, 1e-5);
        assert!(composed <= exact && composed > 0.998 * exact, "{composed} {exact}");
        // With the same order in every epoch, the mean of the outputs is a single epoch with less noise.
        let once = LargestOutput::shuffle(noise / sqrt(epochs as f64), 1).epsilon_lower_bound(1e-5);
        assert!(once <= exact && once > exact - 1e-6, "{once} {exact}");
    }
}

/// One batch, dropped with probability 1 - p. All threshold tests are known. The claimed bound is at most the best
/// of them.
#[test]
fn a_record_that_may_be_dropped() {
    let (noise, delta) = (0.8, 1e-5);
    for presence in [0.999, 0.9, 0.5, 0.01] {
        let above = |level: f64, mean: f64| {
            presence * normal::cdf((mean - level) / noise) + (1.0 - presence) * normal::cdf(-level / noise)
        };
        let best = (0..4000)
            .map(|i| f64::from(i) * 0.002 - 1.0)
            .map(|level| epsilon_of(Masses { p: above(level, 2.0), q: above(level, 1.0) }, delta))
            .fold(0.0, f64::max);
        let ours = LargestOutput::shuffle(noise, 1).epsilon_lower_bound_if_present(
            1,
            delta,
            presence,
            &Work::default(),
        );
        assert!(ours <= best && best - ours <= 2.0 * -log(presence) + 0.01, "{presence}: {ours} {best}");
    }
    let pair = LargestOutput::shuffle(noise, 20);
    for epochs in [1, 4] {
        let whole = pair.composed_epsilon_lower_bound(epochs, delta);
        let present =
            |presence| pair.epsilon_lower_bound_if_present(epochs, delta, presence, &Work::default());
        assert!(present(1.0) <= whole && present(1.0) > 0.99 * whole, "{epochs}: {} {whole}", present(1.0));
        assert!(present(0.9) < present(1.0) && present(1e-6) == 0.0 && present(0.0) == 0.0);
    }
}
