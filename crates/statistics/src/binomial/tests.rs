#![allow(clippy::float_cmp)]

use super::*;
use proptest::{prelude::*, test_runner::RngSeed};

/// The tolerance is ten times the largest difference seen. That difference is 1.1e-15. For tails as small as 1e-100,
/// whose logarithm is rounded, it is 1.5e-14.
fn tolerance(tail_probability: f64) -> f64 {
    if tail_probability < 1e-6 { 1.5e-13 } else { 1.1e-14 }
}

fn relative(ours: f64, exact: f64) -> f64 {
    if ours == exact { 0.0 } else { (ours / exact - 1.0).abs() }
}

/// Reference values from mpmath at 180 digits (`testdata/scripts/clopper_pearson.py`).
#[test]
fn agrees_with_high_precision_values() {
    #[derive(serde::Deserialize)]
    struct Golden {
        upper_bound: Vec<(u64, u64, f64, f64, f64)>,
    }
    let golden: Golden = toml::from_str(include_str!("../../../../testdata/clopper_pearson.toml")).unwrap();
    assert!(golden.upper_bound.len() > 250);
    for (trials, successes, tail, value, complement) in golden.upper_bound {
        let ours = upper_bound(successes, trials, tail);
        let error = relative(ours.value, value).max(relative(ours.complement, complement));
        let case = format!("{successes} of {trials} at {tail:e}");
        assert!(error < tolerance(tail), "{case}: {ours:?}, exactly {value} {complement}");
        println!("{case}: {error:.1e}");
    }
}

#[test]
fn edges() {
    for (successes, trials) in [(0, 0), (5, 5), (9, 5), (u64::MAX, u64::MAX)] {
        assert_eq!(upper_bound(successes, trials, 0.025), Proportion::ONE);
        assert_eq!(lower_bound(trials.saturating_sub(successes), trials, 0.025).value, 0.0);
    }
    for tail in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        assert_eq!(upper_bound(3, 10, tail), Proportion::ONE);
        assert_eq!(lower_bound(3, 10, tail), Proportion::ZERO);
    }
    assert_eq!(upper_bound(3, 10, 1.0), Proportion::ZERO);
    // The median of Beta(k + 1, k + 1) is 1/2.
    for k in [1, 2, 17, 1 << 20, 1 << 40] {
        assert!(relative(upper_bound(k, 2 * k + 1, 0.5).value, 0.5) < 1e-15, "{k}");
    }
}

/// Extreme arguments give probabilities, not NaN, and the function returns.
#[test]
fn is_a_probability_everywhere() {
    let counts =
        [0, 1, 2, 3, 1000, 1 << 40, 1 << 53, 1 << 60, u64::MAX / 2, u64::MAX - 2, u64::MAX - 1, u64::MAX];
    let tails = [5e-324, 1e-300, 1e-17, 0.025, 0.5, 0.5 + 1e-10, 0.9, 1.0 - 1e-16];
    for trials in counts {
        for successes in counts.into_iter().flat_map(|k| [k, trials.saturating_sub(k)]) {
            for tail in tails {
                let Proportion { value, complement } = upper_bound(successes, trials, tail);
                assert!((0.0..=1.0).contains(&value), "{successes} of {trials} at {tail}: {value}");
                assert!((value + complement - 1.0).abs() < 1e-15, "{successes} of {trials} at {tail}");
            }
        }
    }
}

/// P(Binomial(n, p) <= k), summed term by term.
fn distribution(k: u64, n: u64, p: f64) -> f64 {
    let mut term = exp(n as f64 * log1p(-p));
    let mut sum = term;
    for j in 0..k {
        term *= (n - j) as f64 / (j + 1) as f64 * p / (1.0 - p);
        sum += term;
    }
    sum
}

#[test]
fn the_distribution_at_the_bound_is_the_tail_probability() {
    for n in 1..40 {
        for k in 0..n {
            for tail in [0.001, 0.025, 0.3, 0.5, 0.8] {
                let mass = distribution(k, n, upper_bound(k, n, tail).value);
                assert!(relative(mass, tail) < 1e-11, "{k} of {n} at {tail}: {mass}");
            }
        }
    }
}

/// Trials over thirteen decades; successes anywhere, also near both ends.
fn counts() -> impl Strategy<Value = (u64, u64)> {
    (0.0..13.0_f64, 0.0..1.0_f64, 0..3_u8).prop_map(|(decade, place, end)| {
        let trials = libm::exp10(decade) as u64 + 1;
        let near_end = libm::pow(trials as f64, place) as u64 - 1;
        let successes = match end {
            0 => near_end,
            1 => trials - 1 - near_end.min(trials - 1),
            _ => (trials as f64 * place) as u64,
        };
        (successes.min(trials - 1), trials)
    })
}

fn tails() -> impl Strategy<Value = f64> {
    (-30.0..-0.05_f64).prop_map(exp)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4000,
        rng_seed: RngSeed::Fixed(1934),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn increases_with_successes((successes, trials) in counts(), tail in tails()) {
        let [less, more] = [successes, successes + 1].map(|k| upper_bound(k, trials, tail));
        prop_assert!(less.value <= more.value && less.complement >= more.complement, "{less:?} {more:?}");
        prop_assert!(less != more);
    }

    #[test]
    fn decreases_with_trials((successes, trials) in counts(), tail in tails()) {
        let [more, less] = [trials, trials + 1].map(|n| upper_bound(successes, n, tail));
        prop_assert!(less.value <= more.value && less.complement >= more.complement, "{less:?} {more:?}");
        prop_assert!(less != more);
    }

    #[test]
    fn decreases_with_the_tail_probability((successes, trials) in counts(), tail in tails(), factor in 0.5..0.999_f64) {
        let [more, less] = [tail * factor, tail].map(|a| upper_bound(successes, trials, a));
        prop_assert!(less.value <= more.value && less.complement >= more.complement);
        prop_assert!(less != more);
    }

    #[test]
    fn value_and_complement_sum_to_one((successes, trials) in counts(), tail in tails()) {
        let bound = upper_bound(successes, trials, tail);
        prop_assert!((bound.value + bound.complement - 1.0).abs() <= 2.0 * f64::EPSILON);
    }

    /// Successes of one count are failures of the other. The bounds also enclose the observed rate.
    #[test]
    fn bounds_are_symmetric_and_enclose((successes, trials) in counts(), tail in tails()) {
        let tail = tail.min(0.4);
        let (lower, upper) = (lower_bound(successes, trials, tail), upper_bound(trials - successes, trials, tail));
        prop_assert_eq!((lower.value, lower.complement), (upper.complement, upper.value));
        let rate = successes as f64 / trials as f64;
        prop_assert!(lower.value <= rate && rate <= upper_bound(successes, trials, tail).value);
    }

    /// Two forms of one equation: P(X <= k) = a is equivalent to P(X >= k + 1) = 1 - a.
    #[test]
    fn a_lower_bound_solves_the_same_equation((successes, trials) in counts(), tail in 0.05..0.95_f64) {
        let upper = upper_bound(successes, trials, tail);
        let lower = lower_bound(successes + 1, trials, 1.0 - tail);
        prop_assert!(relative(lower.value, upper.value) < 1e-13, "{upper:?} {lower:?}");
        prop_assert!(relative(lower.complement, upper.complement) < 1e-13);
    }
}
