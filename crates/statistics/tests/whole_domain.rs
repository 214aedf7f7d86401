//! The special functions and bounds over all of their arguments: never outside of their range, never not a number, monotone, and inverse to
//! each other. Exact values at chosen points are in the golden tests beside each function.

use misdeal_core::normal;
use misdeal_statistics::beta::Beta;
use misdeal_statistics::binomial::{lower_bound, upper_bound};
use misdeal_statistics::{ERROR_ESTIMATORS, ErrorCounts};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn config(seed: u64) -> ProptestConfig {
    ProptestConfig {
        cases: 3000,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Numbers of trials of every size, and successes near both ends or anywhere.
fn counts() -> impl Strategy<Value = (u64, u64)> {
    (0_u32..63, any::<u64>(), 0..4_u8, any::<u64>()).prop_map(|(bits, low, end, place)| {
        let trials = 1_u64 << bits | low >> (63 - bits) >> 1;
        let successes = match end {
            0 => place % 8,
            1 => trials - (place % 8).min(trials),
            _ => place % (trials + 1),
        };
        (successes.min(trials), trials)
    })
}

/// Levels from the smallest normal number to one.
fn levels() -> impl Strategy<Value = f64> {
    (0.0..700.0_f64).prop_map(|log| (-log).exp())
}

proptest! {
    #![proptest_config(config(31))]

    /// Beyond 2^53 trials counts are rounded, so that neighbours may give the same bound.
    #[test]
    fn clopper_pearson((successes, trials) in counts(), level in levels()) {
        let bound = upper_bound(successes, trials, level);
        prop_assert!((0.0..=1.0).contains(&bound.value) && (0.0..=1.0).contains(&bound.complement), "{bound:?}");
        prop_assert!((bound.value + bound.complement - 1.0).abs() < 1e-14, "{bound:?}");
        prop_assert!(bound.value >= successes as f64 / trials as f64 * (1.0 - 1e-13) || level > 0.4, "{bound:?}");
        // More successes or a smaller level: a larger bound.
        if successes < trials {
            prop_assert!(upper_bound(successes + 1, trials, level).value >= bound.value * (1.0 - 1e-13));
        }
        prop_assert!(upper_bound(successes, trials, level / 2.0).value >= bound.value * (1.0 - 1e-13));
        let below = lower_bound(successes, trials, level);
        prop_assert!(level > 0.4 || below.value <= successes as f64 / trials as f64 * (1.0 + 1e-13), "{below:?}");
    }

    /// A Clopper-Pearson bound is a quantile of Beta(k + 1, n - k): the tails at the bound are the level.
    #[test]
    fn clopper_pearson_is_a_quantile_of_beta((successes, trials) in counts(), log in 0.7..200.0_f64) {
        let trials = trials.min(1 << 43);
        let successes = successes.min(trials.saturating_sub(1));
        let level = (-log).exp();
        let bound = upper_bound(successes, trials, level);
        prop_assume!(trials > successes && bound.complement > 1e-290);
        let [_, above] = Beta::new(successes as f64 + 1.0, (trials - successes) as f64).tails(bound.value / bound.complement);
        // A relative error of the bound is magnified by the slope of the tail: some sqrt(n) at most.
        prop_assert!((above.ln() - level.ln()).abs() < 1e-7 * (1.0 + log), "{above} for {level}: {successes} of {trials}");
    }

    #[test]
    fn beta(log_a in -0.69..29.9_f64, log_b in -0.69..29.9_f64, log_odds in -700.0..700.0_f64) {
        let law = Beta::new(log_a.exp(), log_b.exp());
        let [below, above] = law.tails(log_odds.exp());
        prop_assert!((0.0..=1.0).contains(&below) && (0.0..=1.0).contains(&above), "{below} {above}");
        prop_assert!((below + above - 1.0).abs() < 1e-12, "{below} {above}");
        let [further, _] = law.tails((log_odds + 0.5).exp());
        prop_assert!(further >= below - 1e-12, "{below} {further}");
    }

    #[test]
    fn normal_law(log_p in -725.0..-0.6931471805599454_f64, x in -1e9..1e9_f64) {
        let p = log_p.exp();
        let z = normal::quantile(p);
        prop_assert!(z.is_finite() && z <= 0.0);
        // ln Phi(z) moves by about z dz: an error of 1e-15 in z is magnified by z^2.
        prop_assert!((normal::log_cdf(z) - p.ln()).abs() < 4e-15 * (z * z + 1.0) + 4e-15 * p.ln().abs(), "{p} {z}");
        prop_assert!(normal::log_cdf(x) <= 0.0 && !normal::log_cdf(x).is_nan());
        prop_assert!((0.0..=1.0).contains(&normal::cdf(x)));
        prop_assert!(normal::log_cdf(x) <= normal::log_cdf(x + 1.0));
    }

    /// Estimates from any counts: never negative, never not a number, and no error fewer shows less.
    #[test]
    fn estimators((false_positives, observations) in counts(), share in 0.0..1.0_f64, delta in 0.0..0.1_f64, level in 1e-9..0.3_f64) {
        let observations = observations.clamp(2, 1 << 40);
        let counts = |false_positives: u64, false_negatives: u64| ErrorCounts {
            false_positives: false_positives.min(observations),
            false_negatives: false_negatives.min(observations),
            observations_in: observations,
            observations_out: observations,
        };
        let false_negatives = (share * observations as f64) as u64;
        // Their posterior is integrated at some cost; ten in a hundred of the cases are enough for all.
        for estimator in ERROR_ESTIMATORS.iter().filter(|one| one.name() != "joint-bayesian" || false_positives % 10 == 0) {
            let epsilon = estimator.epsilon(&counts(false_positives, false_negatives), delta, level);
            let name = estimator.name();
            prop_assert!(epsilon >= 0.0, "{name}: {epsilon}");
            for fewer in [
                counts(false_positives.saturating_sub(1), false_negatives),
                counts(false_positives, false_negatives.saturating_sub(1)),
            ] {
                let shown = estimator.epsilon(&fewer, delta, level);
                prop_assert!(shown >= epsilon * (1.0 - 1e-9) - 1e-9, "{name}: {epsilon}, with fewer errors {shown}: {fewer:?}");
            }
        }
    }
}

#[test]
fn ends_of_the_range() {
    // The logarithm goes on where the probability itself is zero, until x^2 is beyond f64.
    assert_eq!(normal::cdf(-40.0), 0.0);
    assert!((normal::log_cdf(-40.0) + 804.608_442).abs() < 1e-6);
    assert!(normal::log_cdf(-1e150).is_finite());
    assert_eq!(normal::log_cdf(1e300), 0.0);
    // The two branches of the logarithm meet.
    let [series, direct] = [-37.0_f64.next_up(), -37.0].map(normal::log_cdf);
    assert!((series / direct - 1.0).abs() < 1e-13);
    for trials in [1, 2, u64::MAX] {
        assert_eq!(upper_bound(trials, trials, 1e-300).value, 1.0);
        assert_eq!(lower_bound(0, trials, 1e-300).value, 0.0);
        assert!(upper_bound(0, trials, 1e-300).value > 0.0);
    }
}
