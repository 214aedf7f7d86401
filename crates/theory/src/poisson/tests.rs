//! Compares with dp-accounting, prv-accountant and known values, and checks monotonicity.

use super::*;
use proptest::prelude::*;

fn interval(noise: f64, q: f64, steps: u64, delta: f64) -> Interval {
    epsilon(noise, q, steps, delta).unwrap()
}

/// Upper bounds from dp-accounting 0.6, connect the dots, grid 2e-5, with errors of the order of 1e-5.
#[test]
fn agrees_with_known_values() {
    let cases = [
        (0.5, 100, 6.476210),
        (1.0, 100, 0.718036),
        (1.5, 100, 0.292116),
        (0.5, 1000, 3.238878),
        (1.0, 1000, 0.148904),
        (1.5, 1000, 0.073879),
    ];
    for (noise, steps, expected) in cases {
        let ours = interval(noise, 1.0 / steps as f64, steps, 1e-5);
        assert!(ours.epsilon_lower_bound <= expected, "{ours:?} {expected}");
        assert!(expected - 1e-5 <= ours.epsilon_upper_bound, "{ours:?} {expected}");
        let width = ours.epsilon_upper_bound - ours.epsilon_lower_bound;
        assert!(width <= 2e-4 * ours.epsilon_upper_bound.max(0.25), "{ours:?}");
    }
}

/// Every interval overlaps those of dp-accounting and prv-accountant (`testdata/scripts/poisson_accounting.py`).
#[test]
fn meets_the_intervals_of_other_accountants() {
    type Row = (f64, f64, u64, f64, f64, f64, f64, f64);
    #[derive(serde::Deserialize)]
    struct Golden {
        epsilon: Vec<Row>,
    }
    let golden: Golden =
        toml::from_str(include_str!("../../../../testdata/poisson_accounting.toml")).unwrap();
    assert!(golden.epsilon.len() > 300);
    let mut meets_prv = 0;
    for (noise, q, steps, delta, low, high, prv_low, prv_high) in golden.epsilon {
        let ours = interval(noise, q, steps, delta);
        let setting = format!("noise {noise}, q {q}, {steps} steps, delta {delta}");
        // dp-accounting truncates tails and does not round safely, so it gets a slack of 1e-6.
        let slack = 1e-6 * (1.0 + high);
        assert!(ours.epsilon_lower_bound <= high + slack, "{setting}: {ours:?}, theirs {low} to {high}");
        assert!(low - slack <= ours.epsilon_upper_bound, "{setting}: {ours:?}, theirs {low} to {high}");
        // Connecting the dots on a fine grid is nearly exact, so our bound is not far above it.
        assert!(ours.epsilon_upper_bound <= 1.001 * high + 1e-4, "{setting}: {ours:?}, theirs {high}");
        // prv-accountant also leaves dp-accounting's interval for large epsilon, by up to 0.2 %. It gets this slack.
        let slack = 2e-3 * high;
        if ours.epsilon_lower_bound <= prv_high + slack && prv_low - slack <= ours.epsilon_upper_bound {
            meets_prv += 1;
        } else {
            assert!(
                prv_low.is_nan(),
                "{setting}: {ours:?}, theirs {low} to {high}, prv {prv_low} to {prv_high}"
            );
        }
    }
    assert!(meets_prv > 200, "{meets_prv}");
}

/// Corners in which one rare large loss decides. The true value, from a contour integral
/// (`testdata/scripts/poisson_corners.py`), lies in every interval, and no interval is wide.
#[test]
fn is_narrow_where_one_large_loss_decides() {
    #[derive(serde::Deserialize)]
    struct Golden {
        epsilon: Vec<(f64, f64, u64, f64, f64)>,
    }
    let golden: Golden = toml::from_str(include_str!("../../../../testdata/poisson_corners.toml")).unwrap();
    assert!(golden.epsilon.len() >= 5);
    for (noise, q, steps, delta, truth) in golden.epsilon {
        let ours = interval(noise, q, steps, delta);
        let (low, high) = (ours.epsilon_lower_bound, ours.epsilon_upper_bound);
        let setting = format!("noise {noise}, q {q}, {steps} steps, delta {delta}: {ours:?}");
        let slack = 5e-6 * truth;
        assert!(low <= truth + slack && truth <= high + slack, "{setting}, truth {truth}");
        assert!(high - low <= 2.5e-4 * high.max(SMALLEST_RELATIVE), "{setting}");
    }
}

/// Corners without an independent value, and values of epsilon in the hundreds.
#[test]
fn is_narrow_in_other_corners() {
    for (noise, q, steps, delta) in [
        (0.7, 1e-6, 10_000, 1e-12),
        (0.7, 1e-6, 1_000_000, 1e-12),
        (1.0, 1e-5, 10_000, 1e-12),
        (1.0, 1e-5, 1_000_000, 1e-12),
        (0.7, 1e-2, 1_000_000, 1e-12),
        (10.0, 0.1, 1_000_000, 1e-12),
        (100.0, 0.5, 1_000_000, 1e-12),
    ] {
        let ours = interval(noise, q, steps, delta);
        let (low, high) = (ours.epsilon_lower_bound, ours.epsilon_upper_bound);
        let width = high - low;
        assert!(
            0.0 <= width && width <= 2.5e-4 * high.max(SMALLEST_RELATIVE),
            "{noise} {q} {steps}: {ours:?}"
        );
    }
}

/// A lower bound in closed form. With f(S) = (1 - e^(epsilon - S))+ and m the smallest sum of the other losses,
/// `f(S) >= sum_i f(L_i + m) - sum_(i<j) 1{L_i, L_j > epsilon - m}`. It is tight if few samples are drawn.
#[test]
fn reaches_the_bound_of_a_single_loss() {
    for (noise, q, steps, delta) in
        [(0.5, 1e-6, 100, 1e-12), (0.7, 1e-5, 100, 1e-12), (0.3, 1e-6, 1000, 1e-10)]
    {
        let ours = interval(noise, q, steps, delta);
        let n = steps as f64;
        let pair = SubsampledGaussian::new(noise, q).unwrap();
        let one = |epsilon: f64| q * pair.if_sampled().delta(pair.loss_if_sampled(epsilon));
        let exceeded = |loss: f64| one(0.5 * loss) / (1.0 - (-0.5 * loss).exp());
        let at_least = |epsilon: f64| {
            let loss = epsilon - (n - 1.0) * libm::log1p(-q);
            n * one(loss) - 0.5 * (n * exceeded(loss)).powi(2)
        };
        let (mut low, mut high) = (0.01, 100.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if at_least(middle) > delta { low = middle } else { high = middle }
        }
        assert!(low <= ours.epsilon_upper_bound, "{ours:?} {low}");
        assert!(low > 0.98 * ours.epsilon_lower_bound, "{ours:?} {low}");
        let width = ours.epsilon_upper_bound - ours.epsilon_lower_bound;
        assert!(width <= 2.5e-4 * low.max(SMALLEST_RELATIVE), "{ours:?}");
    }
}

#[test]
fn sampling_everyone_is_the_gaussian() {
    for (noise, steps) in [(0.7, 1), (2.0, 50)] {
        let exact = Gaussian::fixed_order(noise, steps).epsilon_upper_bound(1e-6);
        let nearly = interval(noise, 1.0 - 1e-9, steps, 1e-6);
        assert!(nearly.epsilon_lower_bound <= exact && exact < nearly.epsilon_upper_bound * (1.0 + 1e-6));
        assert!((interval(noise, 1.0, steps, 1e-6).epsilon_upper_bound - exact).abs() < 1e-12);
    }
}

#[test]
fn refuses_what_makes_no_sense() {
    for (noise, q, steps, delta, field) in [
        (f64::NAN, 0.1, 10, 1e-5, "noise_multiplier"),
        (0.001, 0.1, 10, 1e-5, "noise_multiplier"),
        (1.0, 0.0, 10, 1e-5, "sampling_probability"),
        (1.0, 1.1, 10, 1e-5, "sampling_probability"),
        (1.0, 0.1, 0, 1e-5, "steps"),
        (1.0, 0.1, 10, 0.0, "delta"),
        (1.0, 0.1, 10, f64::NAN, "delta"),
    ] {
        let refusal = epsilon(noise, q, steps, delta).unwrap_err().to_string();
        assert!(refusal.starts_with(field), "{refusal}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Over the whole range, intervals are narrow and ordered, and move in the right direction with every argument.
    #[test]
    fn is_narrow_and_monotone(
        log_noise in -1.2_f64..4.6,
        log_q in -13.8_f64..-0.01,
        log_steps in 0.0_f64..13.8,
        log_delta in -27.6_f64..-2.3,
    ) {
        let (noise, q, delta) = (log_noise.exp(), log_q.exp(), log_delta.exp());
        let steps = log_steps.exp() as u64;
        let ours = interval(noise, q, steps, delta);
        let (low, high) = (ours.epsilon_lower_bound, ours.epsilon_upper_bound);
        prop_assert!(0.0 <= low && low <= high && high.is_finite(), "{:?}", ours);
        prop_assert!(high - low <= 2e-3 * high || high - low <= 1e-3, "{:?}", ours);
        for (worse, which) in [
            (interval(noise * 0.95, q, steps, delta), "noise"),
            (interval(noise, (q * 1.1).min(1.0), steps, delta), "q"),
            (interval(noise, q, steps + steps.div_ceil(10), delta), "steps"),
            (interval(noise, q, steps, delta * 0.8), "delta"),
        ] {
            prop_assert!(low <= worse.epsilon_upper_bound, "{}: {:?} {:?}", which, ours, worse);
        }
    }
}
