//! The Gaussian pair over all of its arguments: in range, monotone, and the two directions inverse to each other. Exact values are in
//! `testdata/gaussian.toml`.

use misdeal_theory::gaussian::Gaussian;

/// A linear congruential generator: the same points on every machine.
fn points(count: usize) -> impl Iterator<Item = [f64; 3]> {
    let mut state = 9_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count).map(move |_| [next(), next(), next()])
}

/// mu from 1e-4 (noise of 10,000) to 3e4 (noise of 0.01 for 10^5 epochs), delta from 1e-300 to almost 1.
#[test]
fn epsilon_and_delta_are_inverse_and_in_range() {
    for [a, b, c] in points(4000) {
        let gaussian = Gaussian { gdp_mu: 10.0_f64.powf(-4.0 + 8.5 * a) };
        let delta = if c < 0.2 { 1.0 - 10.0_f64.powf(-12.0 * b) } else { 10.0_f64.powf(-300.0 * b) };
        if delta <= 0.0 {
            continue;
        }
        let [lower, upper] = [gaussian.epsilon_lower_bound(delta), gaussian.epsilon_upper_bound(delta)];
        let what = format!("{gaussian:?}, delta {delta}: {lower} to {upper}");
        assert!(0.0 <= lower && lower <= upper && upper.is_finite(), "{what}");
        assert!(upper - lower <= 1e-9 * upper.max(1e-2), "{what}");
        let log_delta = gaussian.log_delta(upper);
        assert!(log_delta <= delta.ln() + 1e-9 * (1.0 + delta.ln().abs()), "{what}: {log_delta}");
        // Where epsilon is above 0, delta is met and not undercut: the other direction.
        if lower > 0.0 {
            let there = gaussian.log_delta(lower);
            assert!(there >= delta.ln() - 1e-8 * (1.0 + delta.ln().abs()), "{what}: {there}");
        }
        // More noise, less leakage.
        let quieter = Gaussian { gdp_mu: 1.01 * gaussian.gdp_mu };
        assert!(quieter.epsilon_upper_bound(delta) >= lower, "{what}");
        let rate = gaussian.false_negative_rate(delta);
        assert!((0.0..=1.0).contains(&rate), "{what}: {rate}");
    }
}
