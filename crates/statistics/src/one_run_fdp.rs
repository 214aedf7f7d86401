//! An audit with many canaries in one training, tested against a whole trade-off curve.

use crate::estimator::Side;
use crate::gdp::{delta_of_gdp, epsilon_of_gdp, mu_of_gdp};
use crate::one_run::guesses;
use crate::{ErrorCounts, ErrorEstimator, Guarantee, OneRun};
use misdeal_core::normal::{cdf, quantile};

/// The one-run audit of Mahloujifar, Melis and Chaudhuri (2024), for Gaussian curves.
///
/// Source: "Auditing f-differential privacy in one run" (2024).
///
/// Scores and guesses are as in [`OneRun`](crate::OneRun).
///
/// # Formula
/// There are m canaries and r guesses, and v of the guesses are right. The curve's inverse blow-up is x ->
/// Phi(Phi^-1(x) - mu). The recursion is
///
/// h' = max(h, Phi(Phi^-1(p) - mu)),  p' = p + (i / (r - i)) (h' - h)  for i = v - 1, ..., 0,
///
/// It starts from p = significance v / m and h = significance (r - v) / m. It refutes mu if p + h > r / m at the end
/// (their algorithm 3). Epsilon is the epsilon of the largest refuted mu at delta.
///
/// For `hold-out` and `max`, the threshold is the one that shows most to [`OneRun`] at delta = 0.
///
/// # Formal guarantees
/// - It is a lower confidence bound, which errs downwards, under three conditions: an independent fair coin included
///   each canary, the number of guesses was fixed in advance, and the trade-off curve is Gaussian. For other curves it
///   may err upwards, so it is not marked valid.
#[derive(Debug, Clone, Copy)]
pub struct OneRunFdp;

impl ErrorEstimator for OneRunFdp {
    fn name(&self) -> &'static str {
        "one-run-fdp"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::FairCoinsGaussian
    }

    /// [`OneRun`] at delta = 0, because the recursion is too slow for choosing a threshold.
    fn chooser(&self) -> Option<&dyn ErrorEstimator> {
        Some(&CertainGuesses)
    }

    fn sides(&self) -> &'static [Side] {
        &[Side::Together]
    }

    fn epsilon(&self, counts: &ErrorCounts, delta: f64, significance: f64) -> f64 {
        let [canaries, guesses, right] = guesses(counts);
        let blow_up = |mu: f64| move |share: f64| if share < 1.0 { cdf(quantile(share) - mu) } else { 1.0 };
        let refuted = |mu: f64| is_refuted(canaries, guesses, right, significance, blow_up(mu));
        // Below this mu, epsilon is 0.
        let mut low = if delta > 0.0 { mu_of_gdp(0.0, delta) } else { 0.0 };
        debug_assert!(delta <= 0.0 || delta_of_gdp(low, 0.0) <= 1.001 * delta);
        if right == 0 || !refuted(low) {
            return 0.0;
        }
        let mut high = 1.0_f64.max(2.0 * low);
        while refuted(high) && high < 1e3 {
            (low, high) = (high, 2.0 * high);
        }
        while high - low > 1e-10 * high {
            let middle = low.midpoint(high);
            if refuted(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        epsilon_of_gdp(low, delta)
    }
}

/// [`OneRun`] at delta = 0: the logit of a lower bound on the share of right guesses.
struct CertainGuesses;

impl ErrorEstimator for CertainGuesses {
    fn name(&self) -> &'static str {
        "certain-guesses"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Nothing
    }

    fn epsilon(&self, counts: &ErrorCounts, _delta: f64, significance: f64) -> f64 {
        OneRun.epsilon(counts, 0.0, significance)
    }
}

/// Whether so many right guesses have a probability below `significance` for every mechanism with this inverse blow-up.
pub(crate) fn is_refuted(
    canaries: u64,
    guesses: u64,
    right: u64,
    significance: f64,
    inverse_blow_up: impl Fn(f64) -> f64,
) -> bool {
    let m = canaries as f64;
    // Rounding alone refutes nothing.
    let needed = guesses as f64 / m * (1.0 + 1e-12);
    let mut p = significance * right as f64 / m;
    let mut h = significance * (guesses - right) as f64 / m;
    for i in (0..right).rev() {
        let blown_up = inverse_blow_up(p);
        if blown_up <= h {
            // No later step changes the result.
            break;
        }
        p = (p + i as f64 / (guesses - i) as f64 * (blown_up - h)).min(1.0);
        h = blown_up;
        // Neither p nor h decreases later.
        if p + h > needed {
            return true;
        }
    }
    p + h > needed
}
