//! Many canaries in one training, tested against a whole trade-off curve.

use crate::estimator::Side;
use crate::gdp::{delta_of_gdp, epsilon_of_gdp, mu_of_gdp};
use crate::one_run::guesses;
use crate::{ErrorCounts, ErrorEstimator, Guarantee, OneRun};
use misdeal_core::normal::{cdf, quantile};

/// The audit of Mahloujifar, Melis and Chaudhuri, "Auditing f-differential privacy in one run" (2024), for the Gaussian family.
///
/// Scores and guesses are as in [`OneRun`](crate::OneRun).
///
/// # Formula
/// With m canaries, r guesses of which v are right and the curve's inverse blow-up x -> Phi(Phi^-1(x) - mu), the recursion
///
/// h' = max(h, Phi(Phi^-1(p) - mu)),  p' = p + (i / (r - i)) (h' - h)  for i = v - 1, ..., 0,
///
/// from p = significance v / m and h = significance (r - v) / m refutes mu where p + h > r / m in the end (their algorithm 3). Epsilon is
/// that of the largest refuted mu at delta.
///
/// The threshold of `hold-out` and `max` is the one that shows most to [`OneRun`] at delta = 0.
///
/// # Formal guarantees
/// - If every canary was included by a fair coin of its own, the number of guesses was fixed in advance and the trade-off curve is
///   Gaussian, a lower confidence bound, which errs downwards. For another curve it may err upwards: not marked valid.
#[derive(Debug, Clone, Copy)]
pub struct OneRunFdp;

impl ErrorEstimator for OneRunFdp {
    fn name(&self) -> &'static str {
        "one-run-fdp"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::FairCoinsGaussian
    }

    /// The recursion is long: the threshold is the one with the most certain guesses.
    fn chooser(&self) -> Option<&dyn ErrorEstimator> {
        Some(&CertainGuesses)
    }

    fn sides(&self) -> &'static [Side] {
        &[Side::Together]
    }

    fn epsilon(&self, counts: &ErrorCounts, delta: f64, significance: f64) -> f64 {
        let [canaries, guesses, right] = guesses(counts);
        let refuted = |mu: f64| is_refuted(canaries, guesses, right, mu, significance);
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

fn is_refuted(canaries: u64, guesses: u64, right: u64, mu: f64, significance: f64) -> bool {
    let m = canaries as f64;
    let needed = guesses as f64 / m;
    let mut p = significance * right as f64 / m;
    let mut h = significance * (guesses - right) as f64 / m;
    for i in (0..right).rev() {
        let blown_up = if p < 1.0 { cdf(quantile(p) - mu) } else { 1.0 };
        if blown_up <= h {
            // Nothing changes any more.
            break;
        }
        p = (p + i as f64 / (guesses - i) as f64 * (blown_up - h)).min(1.0);
        h = blown_up;
        // Neither falls again.
        if p + h > needed {
            return true;
        }
    }
    p + h > needed
}
