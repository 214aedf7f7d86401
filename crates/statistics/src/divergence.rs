//! An estimate from a function of the score, without a threshold.

use crate::Guarantee;
use crate::estimator::{Estimator, Finding};
use crate::evidence::Evidence;
use crate::threshold_choice::{ThresholdChoice, Trials};
use libm::{exp, log, log1p, sqrt};
use misdeal_core::score_grid::lower_edge;

/// The step between tested values of epsilon.
const STEP: f64 = 1.0 / 256.0;
/// The largest epsilon tested. No score of a real mechanism shows more.
const MOST: f64 = 700.0;
/// The share of the significance for the world `Out`. Its mean is small and more uncertain.
const SHARE_OUT: f64 = 0.8;

/// The hockey-stick test in its two-world form.
///
/// # Formula
/// Under (epsilon, delta)-privacy, E_In phi <= e^epsilon E_Out phi + delta for every function phi into [0, 1]. Here
/// phi = (1 - e^(epsilon - L))+ of the score L, taken at the lower edge of its grid cell. If L is the exact
/// log-likelihood ratio, this phi makes the difference of the two sides, before confidence, equal to the divergence
/// minus delta. The means are bounded by the Chernoff bound of Hoeffding (1963), n KL(mean, bound) = ln(1/level), which
/// holds for any values in [0, 1].
///
/// Values of epsilon are tested in increasing order, and the first one that is not refuted ends the test. A mechanism
/// that satisfies one epsilon satisfies all larger ones. So the first true claim is refuted with probability at most
/// `significance`, and no correction is needed.
///
/// # Formal guarantees
/// - It is a lower confidence bound for any implementation, even if the scores are not likelihood ratios. It errs
///   downwards. No threshold is chosen: all trials count, and `threshold` is the score at which phi begins. Scores that
///   are not on the scale of a log-likelihood ratio only make it smaller.
#[derive(Debug, Clone, Copy)]
pub struct Divergence;

impl Estimator for Divergence {
    fn name(&self) -> &'static str {
        "divergence"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::AnyMechanism
    }

    fn chooses_a_threshold(&self) -> bool {
        false
    }

    fn is_valid(&self, _choice: ThresholdChoice, _evidence: &Evidence<'_>) -> bool {
        true
    }

    fn find(
        &self,
        evidence: &Evidence<'_>,
        _choice: ThresholdChoice,
        delta: f64,
        significance: f64,
    ) -> Finding {
        let (bins, cells) = evidence.cells(Trials::All);
        let observations = evidence.observations(Trials::All).map(|n| n as f64);
        let edges: Vec<f64> = bins.iter().map(|&bin| lower_edge(bin)).collect();
        // For the scores from each cell upwards: their number and the sum of e^-L, in both worlds. Negative scores are
        // never used.
        let mut above = vec![[[0.0; 2]; 2]; cells.len() + 1];
        for i in (0..cells.len()).rev() {
            let weight = exp(-edges[i].max(0.0));
            above[i] = [0, 1].map(|world| {
                let count = cells[i][world] as f64;
                [above[i + 1][world][0] + count, above[i + 1][world][1] + count * weight]
            });
        }
        // The largest allowed divergence of an average from its mean.
        let levels = [1.0 - SHARE_OUT, SHARE_OUT].map(|share| share * significance);
        let allowed = [0, 1].map(|world: usize| -log(levels[world]) / observations[world]);
        let mut best = None;
        for step in 0..(MOST / STEP) as u32 {
            let epsilon = f64::from(step) * STEP;
            let first = edges.partition_point(|&edge| edge <= epsilon);
            let factor = exp(epsilon);
            let mean = |world: usize| {
                let [count, discounted] = above[first][world];
                ((count - factor * discounted) / observations[world]).clamp(0.0, 1.0)
            };
            let means = [mean(0), mean(1)];
            let is_refuted = |[at_least, at_most]: [f64; 2]| at_least > factor * at_most + delta;
            // Simple bounds refute most values of epsilon. The last few need the exact bounds.
            if !is_refuted(simple_bounds(means, allowed)) && !is_refuted(exact_bounds(means, allowed)) {
                break;
            }
            best = Some(epsilon);
        }
        let epsilon = best.unwrap_or(0.0);
        Finding { epsilon, threshold: epsilon, counted: Trials::All }
    }
}

/// The divergence KL(p, q) of two coins.
fn divergence_of_coins(p: f64, q: f64) -> f64 {
    let one = if p > 0.0 { p * log(p / q) } else { 0.0 };
    let other = if p < 1.0 { (1.0 - p) * (log1p(-p) - log1p(-q)) } else { 0.0 };
    one + other
}

/// A lower bound on the mean `In` and an upper bound on the mean `Out`, at the confidence that `allowed` implies.
fn exact_bounds(averages: [f64; 2], allowed: [f64; 2]) -> [f64; 2] {
    [lower_mean(averages[0], allowed[0]), upper_mean(averages[1], allowed[1])]
}

/// Slightly wider bounds than [`exact_bounds`], without a search: KL(p, q) >= (p - q)^2 / (2 max(p, q)).
fn simple_bounds(averages: [f64; 2], allowed: [f64; 2]) -> [f64; 2] {
    let [[p, x], [q, y]] = [0, 1].map(|world| [averages[world], allowed[world]]);
    [p - sqrt(2.0 * p * x), q + y + sqrt(y * (y + 2.0 * q))]
}

/// The largest mean whose divergence from `average` is at most `allowed`.
fn upper_mean(average: f64, allowed: f64) -> f64 {
    let (mut low, mut high) = (average, 1.0);
    for _ in 0..200 {
        let middle = if low > 0.0 && low < 0.1 * high { sqrt(low * high) } else { low.midpoint(high) };
        if high - low <= 1e-12 * high || middle <= low || middle >= high {
            break;
        }
        if divergence_of_coins(average, middle) > allowed {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// The smallest mean whose divergence from `average` is at most `allowed`.
fn lower_mean(average: f64, allowed: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, average);
    for _ in 0..200 {
        let middle = low.midpoint(high);
        if high - low <= 1e-12 * high || middle <= low || middle >= high {
            break;
        }
        if divergence_of_coins(average, middle) > allowed {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If all values are 0, the bound is 1 - level^(1/n), as for exact binomial bounds. The same holds for all 1.
    #[test]
    fn means_of_nothing_and_of_everything() {
        for (n, level) in [(10.0, 0.05), (1e6, 1e-4)] {
            let (exact, allowed) = (-libm::expm1(log(level) / n), -log(level) / n);
            assert!((upper_mean(0.0, allowed) / exact - 1.0).abs() < 1e-9);
            assert!(((1.0 - lower_mean(1.0, allowed)) / exact - 1.0).abs() < 1e-6);
        }
        assert!(lower_mean(0.0, 0.3) <= 0.0);
        assert_eq!(upper_mean(1.0, 0.3), 1.0);
    }

    #[test]
    fn simple_bounds_are_wider() {
        for average in [0.0, 1e-9, 1e-3, 0.2, 0.7, 1.0] {
            for allowed in [1e-9, 1e-4, 0.01, 0.5, 3.0] {
                let [simple, exact] =
                    [simple_bounds, exact_bounds].map(|bounds| bounds([average; 2], [allowed; 2]));
                assert!(simple[0] <= exact[0] * (1.0 + 1e-11), "{average} {allowed}: {simple:?} {exact:?}");
                assert!(simple[1] >= exact[1] * (1.0 - 1e-11), "{average} {allowed}: {simple:?} {exact:?}");
            }
        }
    }
}
