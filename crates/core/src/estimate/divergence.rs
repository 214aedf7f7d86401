//! A function of the score instead of a threshold.

use super::Guarantee;
use super::estimator::{Estimator, Finding};
use super::evidence::Evidence;
use super::threshold_choice::{ThresholdChoice, Trials};
use crate::score_grid::lower_edge;
use libm::{exp, log, log1p};

/// Epsilons are tested in steps of this, upwards.
const STEP: f64 = 1.0 / 256.0;
/// No score of a real mechanism shows more.
const MOST: f64 = 700.0;
/// The share of the significance for the world `Out`, whose mean is the small and uncertain one.
const SHARE_OUT: f64 = 0.8;

/// The hockey-stick test in its two-world form.
///
/// # Formula
/// Under (epsilon, delta)-privacy E_In phi <= e^epsilon E_Out phi + delta for every function phi into [0, 1]. Here
/// phi = (1 - e^(epsilon - L))+ of the score L (at the lower edge of its cell of the grid, which is again such a function); if L is the exact
/// log-likelihood ratio, phi is what makes the left side minus the right side, before confidence, equal to the divergence less delta. The
/// means are bounded by the Chernoff bound of Hoeffding (1963), n KL(mean, bound) = ln(1/level), which holds for any values in [0, 1].
///
/// Epsilons are tested in increasing order and the first that is not refuted ends it. The claims are nested (who satisfies one satisfies
/// all larger ones), so the first true one is refuted with probability at most `significance`, and no correction is needed.
///
/// # Formal guarantees
/// - A lower confidence bound for any implementation, whether or not its scores are likelihood ratios; it errs downwards. No threshold
///   is chosen: all trials count, and `threshold` is where phi begins. Scores on another scale than that of a log-likelihood
///   ratio only make it smaller.
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
        // From every cell up: the number of scores, and the sum of e^-L, in both worlds. Negative scores are never used.
        let mut above = vec![[[0.0; 2]; 2]; cells.len() + 1];
        for i in (0..cells.len()).rev() {
            let weight = exp(-edges[i].max(0.0));
            above[i] = [0, 1].map(|world| {
                let count = cells[i][world] as f64;
                [above[i + 1][world][0] + count, above[i + 1][world][1] + count * weight]
            });
        }
        let mut best = None;
        for step in 0..(MOST / STEP) as u32 {
            let epsilon = f64::from(step) * STEP;
            let first = edges.partition_point(|&edge| edge <= epsilon);
            let factor = exp(epsilon);
            let mean = |world: usize| {
                let [count, discounted] = above[first][world];
                ((count - factor * discounted) / observations[world]).clamp(0.0, 1.0)
            };
            let at_least = lower_mean(mean(0), observations[0], (1.0 - SHARE_OUT) * significance);
            let at_most = upper_mean(mean(1), observations[1], SHARE_OUT * significance);
            if at_least <= factor * at_most + delta {
                break;
            }
            best = Some(epsilon);
        }
        let epsilon = best.unwrap_or(0.0);
        Finding { epsilon, threshold: epsilon, counted: Trials::All }
    }
}

/// KL(p, q) of two coins.
fn divergence_of_coins(p: f64, q: f64) -> f64 {
    let one = if p > 0.0 { p * log(p / q) } else { 0.0 };
    let other = if p < 1.0 { (1.0 - p) * (log1p(-p) - log1p(-q)) } else { 0.0 };
    one + other
}

/// A bound above which the mean of `n` independent values in [0, 1] with this average lies with probability 1 - `level`.
fn upper_mean(average: f64, n: f64, level: f64) -> f64 {
    let allowed = -log(level) / n;
    let (mut low, mut high) = (average, 1.0);
    for _ in 0..200 {
        let middle = if low > 0.0 && low < 0.1 * high { libm::sqrt(low * high) } else { low.midpoint(high) };
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

/// A bound below which the mean lies with probability at most `level`.
fn lower_mean(average: f64, n: f64, level: f64) -> f64 {
    let allowed = -log(level) / n;
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

    /// For values that are all 0 or all 1 the bound is 1 - level^(1/n), as exact binomial bounds are.
    #[test]
    fn means_of_nothing_and_of_everything() {
        for (n, level) in [(10.0, 0.05), (1e6, 1e-4)] {
            let exact = -libm::expm1(log(level) / n);
            assert!((upper_mean(0.0, n, level) / exact - 1.0).abs() < 1e-9);
            assert!(((1.0 - lower_mean(1.0, n, level)) / exact - 1.0).abs() < 1e-6);
        }
        assert!(lower_mean(0.0, 10.0, 0.05) <= 0.0);
        assert_eq!(upper_mean(1.0, 10.0, 0.05), 1.0);
    }
}
