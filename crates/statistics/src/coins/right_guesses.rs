//! The number of right guesses against the claimed total variation.

use crate::beta::Beta;

/// The p-value of at least `right` right guesses of `coins` independent fair coins, each right with probability `right_rate` at most.
///
/// # Formal guarantees
/// - It errs upwards. A fair coin is guessed right with probability (1 + TV) / 2 at most, and given the others' results too if coins are
///   independent. So the number of right guesses is stochastically below Binomial(coins, right_rate).
/// - If the coins are `paired` (one of two successive ones is `In`), the guesses are right with rates that only average `right_rate`.
///   Then Hoeffding's inequality (1956) gives the same tail beyond the mean + 1, and the p-value is 1 below.
pub fn right_guesses_p_value(coins: u64, right: u64, right_rate: f64, paired: bool) -> f64 {
    let is_small = right as f64 <= coins as f64 * right_rate + if paired { 1.0 } else { 0.0 };
    if right == 0 || right_rate >= 1.0 || (paired && is_small) {
        return 1.0;
    }
    Beta::new(right as f64, (coins - right) as f64 + 1.0).tails(right_rate / (1.0 - right_rate))[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(rates: &[f64], at_least: usize) -> f64 {
        let mut law = vec![1.0];
        for rate in rates {
            let mut next = vec![0.0; law.len() + 1];
            for (right, mass) in law.iter().enumerate() {
                next[right] += mass * (1.0 - rate);
                next[right + 1] += mass * rate;
            }
            law = next;
        }
        law[at_least..].iter().sum()
    }

    #[test]
    fn is_the_binomial_tail() {
        for right in 1..=20 {
            let exact = tail(&[0.6; 20], right);
            assert!((right_guesses_p_value(20, right as u64, 0.6, false) - exact).abs() < 1e-12);
        }
    }

    /// Rates a and b with the same average, half of the coins each: the exact tail is never above the p-value.
    #[test]
    fn pairs_are_never_accused_too_soon() {
        for gap in [0.0, 0.1, 0.2, 0.39] {
            let rates: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { 0.6 + gap } else { 0.6 - gap }).collect();
            for right in 0..=40 {
                let p = right_guesses_p_value(40, right as u64, 0.6, true);
                assert!(tail(&rates, right) <= p + 1e-12, "{gap} {right}");
            }
        }
    }
}
