//! An audit with many canaries in one training.

use crate::beta::Beta;
use crate::crossing::crossing;
use crate::estimator::Side;
use crate::{ErrorCounts, ErrorEstimator, Guarantee};
use libm::exp;

/// The one-run audit of Steinke, Nasr and Jagielski (2023).
///
/// Source: "Privacy auditing with one (1) training run" (2023).
///
/// The scores `In` belong to the canaries that were included in a single training. The scores `Out` belong to those
/// that were left out. A canary whose score reaches the threshold is guessed to be included. There are no guesses for
/// the other canaries.
///
/// # Formula
/// There are m canaries and r guesses, and v of the guesses are right. With W ~ Binomial(r, e^epsilon / (1 +
/// e^epsilon)), the p-value is
///
/// P(W >= v) + 2 m delta max over i of P(v - i <= W < v) / i,
///
/// Epsilon is the value at which it reaches `significance` (theorem 5.2). The maximum is found at the mode of W and
/// below, in O(sqrt(r)) terms.
///
/// # Formal guarantees
/// - It is a lower confidence bound for any mechanism, which errs downwards, under two conditions: an independent fair
///   coin included each canary, and the number of guesses was fixed in advance (the choice `band`). One training limits
///   what it can show: about ln(2m) at most.
/// - Some runs have halves of fixed size, such as those of a simulated game. They do not use fair coins, so they are
///   not marked valid.
#[derive(Debug, Clone, Copy)]
pub struct OneRun;

impl ErrorEstimator for OneRun {
    fn name(&self) -> &'static str {
        "one-run"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::FairCoins
    }

    fn sides(&self) -> &'static [Side] {
        &[Side::Together]
    }

    fn epsilon(&self, counts: &ErrorCounts, delta: f64, significance: f64) -> f64 {
        let [canaries, guesses, right] = guesses(counts);
        epsilon(canaries, guesses, right, delta, significance)
    }
}

/// The epsilon at which the p-value reaches `significance`.
pub(crate) fn epsilon(canaries: u64, guesses: u64, right: u64, delta: f64, significance: f64) -> f64 {
    if right == 0 || p_value(canaries, guesses, right, 0.0, 0.0) > significance {
        return 0.0;
    }
    let accuracy = (right as f64 + 0.5) / (guesses as f64 + 1.0);
    let start = libm::log(accuracy / (1.0 - accuracy)) - 1.0;
    crossing(significance, 0.0, start, |epsilon| p_value(canaries, guesses, right, epsilon, delta))
}

/// The numbers of canaries, guesses and right guesses.
pub(crate) fn guesses(counts: &ErrorCounts) -> [u64; 3] {
    let right = counts.observations_in - counts.false_negatives;
    [counts.observations_in + counts.observations_out, right + counts.false_positives, right]
}

/// An upper bound on the probability of at least `right` right guesses, if `epsilon` and `delta` hold.
///
/// It increases with epsilon.
fn p_value(canaries: u64, guesses: u64, right: u64, epsilon: f64, delta: f64) -> f64 {
    let odds = exp(epsilon);
    let (n, share) = (guesses as f64, odds / (1.0 + odds));
    // P(W >= v) = P(Beta(v, n - v + 1) <= share).
    let at_least = |v: u64| if v == 0 { 1.0 } else { Beta::new(v as f64, n - v as f64 + 1.0).tails(odds)[0] };
    // Beta(v, n - v + 1) has the density v (1 - share) P(W = v) in the logit.
    let exactly = |v: u64| {
        let v = v as f64;
        Beta::new(v, n - v + 1.0).logit_density(odds) / (v * (1.0 - share))
    };
    let beyond = at_least(right);
    if delta <= 0.0 {
        return beyond;
    }
    // Averages of P(W = w) over w from v - 1 downwards. They grow while the next term is larger than the average, which
    // holds at least down to the mode.
    let mode = (((n + 1.0) * share) as u64).clamp(1, guesses).min(right - 1);
    let (mut average, mut sum);
    if mode == 0 {
        // Only w = 0 remains.
        average = 1.0 - beyond;
    } else {
        let mut term = exactly(mode);
        sum = if mode + 1 == right { term } else { at_least(mode) - beyond };
        average = sum / (right - mode) as f64;
        for w in (0..mode).rev() {
            // Compute P(W = w) from P(W = w + 1).
            term *= (w as f64 + 1.0) / ((n - w as f64) * odds);
            if term <= average {
                break;
            }
            sum += term;
            average = sum / (right - w) as f64;
        }
    }
    average = average.max(0.0);
    (beyond + 2.0 * canaries as f64 * delta * average).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula without shortcuts, with every term.
    #[test]
    fn the_short_sum_is_the_whole_maximum() {
        for (n, v) in [(10, 8), (10, 10), (1, 1), (50, 35), (200, 120), (200, 199)] {
            for epsilon in [0.0, 0.3, 1.0, 3.0] {
                let share = exp(epsilon) / (1.0 + exp(epsilon));
                let mut pmf = vec![libm::pow(1.0 - share, n as f64)];
                for w in 0..n {
                    pmf.push(pmf[w] * (n - w) as f64 / (w + 1) as f64 * share / (1.0 - share));
                }
                let beyond: f64 = pmf[v..].iter().sum();
                let largest =
                    (1..=v).map(|i| pmf[v - i..v].iter().sum::<f64>() / i as f64).fold(0.0, f64::max);
                let exact = (beyond + 2.0 * 300.0 * 1e-4 * largest).min(1.0);
                let found = p_value(300, n as u64, v as u64, epsilon, 1e-4);
                assert!((found - exact).abs() < 1e-11, "{n} {v} {epsilon}: {found} for {exact}");
            }
        }
    }
}
