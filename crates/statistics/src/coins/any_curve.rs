//! A claimed curve tested in one training, whatever the dependence between canaries.

use crate::PrivacyCurve;
use crate::one_run_fdp::is_refuted;
use libm::{exp, log};

/// The p-value of at least `right` of `guesses` right guesses among `canaries` fair coins, each of which `curve` protects.
///
/// # Formula
/// It is the smallest level that the recursion of Mahloujifar, Melis and Chaudhuri (2024, algorithm 3) refutes, with the inverse blow-up
/// of `curve`.
///
/// # Formal guarantees
/// - It errs upwards, for any dependence between canaries. It assumes that each coin is protected by the curve given all other coins, and
///   that the number of guesses was fixed in advance. Guesses may name either side.
/// - The level is found by bisection, and the refuted end is returned.
pub fn curve_p_value(canaries: u64, guesses: u64, right: u64, curve: &PrivacyCurve) -> f64 {
    const PRECISION: f64 = 1e-3;
    const LEAST: f64 = -690.0;
    let refuted = |log_level: f64| {
        is_refuted(canaries, guesses, right, exp(log_level), |share| curve.inverse_blow_up(share))
    };
    if right == 0 || !refuted(0.0) {
        return 1.0;
    }
    let (mut low, mut high) = (LEAST, 0.0);
    // Most p-values are not extreme, so the lower end is approached from above.
    let mut stride = 1.0;
    while low < high - stride && refuted(high - stride) {
        high -= stride;
        stride *= 2.0;
    }
    low = low.max(high - stride);
    while high - low > PRECISION {
        let middle = low.midpoint(high);
        if refuted(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    exp(high)
}

/// Fisher's combination (1932) of p-values of independent runs.
///
/// For R p-values with product q it is q sum over k < R of (-ln q)^k / k!. It errs upwards if each p-value does.
pub fn fisher(p_values: &[f64]) -> f64 {
    let total: f64 = p_values.iter().map(|p| -log(p.max(f64::MIN_POSITIVE))).sum();
    if total <= 0.0 {
        return 1.0;
    }
    let mut log_term = -total;
    let mut sum = 0.0;
    for k in 0..p_values.len() {
        sum += exp(log_term);
        log_term += log(total / (k + 1) as f64);
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fisher_of_one_is_itself_and_of_two_the_closed_form() {
        assert!((fisher(&[0.03]) - 0.03).abs() < 1e-15);
        let q = 0.2_f64 * 0.05;
        assert!((fisher(&[0.2, 0.05]) - q * (1.0 - q.ln())).abs() < 1e-15);
        assert_eq!(fisher(&[1.0, 1.0]), 1.0);
    }

    /// The largest probability of `right` guesses by brute force: the recursion's tail masses, each at its least.
    fn slow(canaries: f64, guesses: usize, right: usize, level: f64, curve: &PrivacyCurve) -> f64 {
        let mut tails = vec![0.0; guesses + 2];
        tails[right] = level;
        for i in (1..=right).rev() {
            let beyond: f64 = tails[i..].iter().sum();
            let hit = (i as f64 * tails[i] + tails[i + 1..].iter().sum::<f64>()) / canaries;
            let needed = (canaries * curve.inverse_blow_up(hit) + beyond) / (guesses - i + 1) as f64;
            tails[i - 1] = tails[i].max(needed);
        }
        tails[0]
    }

    /// The p-value is the level at which the masses of all numbers of right guesses add up to one.
    #[test]
    fn all_masses_add_up_to_one_at_the_p_value() {
        let curve =
            PrivacyCurve::from_points(&[[1e-5, 2.87], [0.01, 1.16], [0.05, 0.64], [0.214, 0.0]]).unwrap();
        for (canaries, guesses, right) in [(64, 20, 18), (512, 123, 119), (512, 123, 90), (10, 10, 9)] {
            let p = curve_p_value(canaries, guesses, right, &curve);
            let at = |level: f64| slow(canaries as f64, guesses as usize, right as usize, level, &curve);
            assert!(at(p) >= 1.0 - 1e-9, "{canaries} {guesses} {right}: {p} {}", at(p));
            assert!(p >= 1.0 || at(p * 0.998) <= 1.0, "{canaries} {guesses} {right}: {p}");
        }
        assert_eq!(curve_p_value(64, 20, 10, &curve), 1.0);
    }

    /// Randomised response on the edge of (epsilon, 0): right guesses are binomial, and the p-value is at least their tail.
    #[test]
    fn is_at_least_the_tail_of_a_mechanism_on_the_edge() {
        let curve = PrivacyCurve::from_points(&[[0.0, 1.0]]).unwrap();
        let rate = curve.right_rate();
        for right in [30, 35, 40, 45] {
            let tail = crate::coins::right_guesses_p_value(50, right, rate, false);
            assert!(curve_p_value(50, 50, right, &curve) >= tail, "{right}");
        }
    }
}
