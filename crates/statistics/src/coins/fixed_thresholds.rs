//! A lower bound on epsilon from guesses at fixed thresholds, if coins are independent.

use crate::binomial::lower_bound;

/// The share of the significance that may fail the bound on the rate of guesses.
const FOR_THE_RATE: f64 = 1.0 / 500.0;

/// The lower bound on epsilon from `right` of `guesses` guesses among `coins` coins, at thresholds that were fixed in advance.
///
/// # Formula
/// A guess is right with probability 1 - (1 - delta / g) / (1 + e^epsilon) at most, where g is the probability of a guess. g is bounded
/// from below by Clopper and Pearson's bound, at 1/500 of the significance, and the rate of right guesses at the rest.
///
/// # Formal guarantees
/// - It errs downwards, if coins are independent and alike: each has the same two laws of its score, on which (epsilon, delta) holds.
pub fn fixed_thresholds_epsilon(coins: u64, guesses: u64, right: u64, delta: f64, significance: f64) -> f64 {
    if right == 0 {
        return 0.0;
    }
    let rate = lower_bound(guesses, coins, FOR_THE_RATE * significance).value;
    let wrong = lower_bound(right, guesses, (1.0 - FOR_THE_RATE) * significance).complement;
    if rate <= delta || wrong <= 0.0 {
        return 0.0;
    }
    libm::log(((1.0 - delta / rate) / wrong - 1.0).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_delta_it_is_the_logit_of_the_bound_on_the_accuracy() {
        let wrong = lower_bound(95, 100, 0.05 * 499.0 / 500.0).complement;
        let exact = ((1.0 - wrong) / wrong).ln();
        assert!((fixed_thresholds_epsilon(1000, 100, 95, 0.0, 0.05) - exact).abs() < 1e-12);
        assert!(fixed_thresholds_epsilon(1000, 100, 95, 1e-3, 0.05) < exact);
        assert_eq!(fixed_thresholds_epsilon(1000, 100, 50, 1e-5, 0.05), 0.0);
        assert_eq!(fixed_thresholds_epsilon(1000, 0, 0, 1e-5, 0.05), 0.0);
        assert_eq!(fixed_thresholds_epsilon(1000, 3, 3, 0.9, 0.05), 0.0);
    }
}
