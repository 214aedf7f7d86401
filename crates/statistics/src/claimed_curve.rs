//! Tests whether observed errors are consistent with a whole trade-off curve.
//!
//! A claim such as "this is Poisson sampling" promises more than one pair (epsilon, delta). It promises that at every
//! false-positive rate x the false-negative rate is at least f(x). One threshold whose two errors lie below the curve
//! refutes it. This often needs fewer observations than any single (epsilon, delta) on the curve.

use crate::ErrorCounts;
use crate::beta::Beta;
use libm::{exp, expm1, log};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The trade-off curve of (epsilon, delta): f(x) = max{ 0, 1 - delta - e^epsilon x, e^-epsilon (1 - delta - x) }.
pub fn of_epsilon(epsilon: f64, delta: f64, false_positive_rate: f64) -> f64 {
    let rest = 1.0 - delta;
    let steep = rest - exp(epsilon) * false_positive_rate;
    let flat = exp(-epsilon) * (rest - false_positive_rate);
    steep.max(flat).max(0.0)
}

/// The false-positive rates at which [`of_epsilon`] has a corner, ascending.
///
/// The first corner lies on the diagonal, where the two lines meet. At the second the curve reaches zero.
pub fn corners_of_epsilon(epsilon: f64, delta: f64) -> [f64; 2] {
    let rest = 1.0 - delta;
    [rest / (1.0 + exp(epsilon)), rest]
}

/// The p-value of the claim that the mechanism's curve is at least `curve`, from both worlds.
///
/// It is an upper bound on the probability of so few errors under any such mechanism.
///
/// # Formula
/// The errors are k of n false positives and l of m false negatives. G(q) = q (1 - ln q) is the law of a product of two
/// independent uniform numbers (Fisher 1932). Then
///
/// p = sup over x of G( P(Binomial(n, x) <= k) P(Binomial(m, f(x)) <= l) )
///
/// # Formal guarantees
/// - It errs upwards. Assume that the threshold was chosen without the counted scores and that `curve` is
///   non-increasing. Then P(p <= a) <= a whenever the two error rates (x, y) have y >= f(x). Reason: each factor at the
///   true x is at least a p-value of its own world, the worlds are independent, and the supremum only increases the
///   value.
/// - The result bounds the supremum from above. The search splits [0, 1] until the bound is within a hundredth of a
///   value, because both factors are monotone in x. The search may stop earlier, on the safe side.
/// - Rounding of the binomial tails, about 1e-14 relative, is not accounted for.
pub fn p_value(counts: &ErrorCounts, curve: impl Fn(f64) -> f64) -> f64 {
    bounded_p_value(counts, curve, 1.01)
}

/// The p-value as in [`p_value`], within a factor of `precision` above the supremum.
pub(crate) fn bounded_p_value(counts: &ErrorCounts, curve: impl Fn(f64) -> f64, precision: f64) -> f64 {
    const MOST_SPLITS: usize = 4000;
    let few_positives = |x: f64| at_most(counts.false_positives, counts.observations_out, x);
    let few_negatives = |x: f64| at_most(counts.false_negatives, counts.observations_in, curve(x));
    let piece = |low: End, high: End| Piece { bound: low.few_positives * high.few_negatives, low, high };
    let end = |x: f64| End { x, few_positives: few_positives(x), few_negatives: few_negatives(x) };
    let (first, last) = (end(0.0), end(1.0));
    let mut best = (first.few_positives * first.few_negatives).max(last.few_positives * last.few_negatives);
    let mut heap = BinaryHeap::from([piece(first, last)]);
    for _ in 0..MOST_SPLITS {
        let Some(widest) = heap.peek() else { break };
        if widest.bound <= precision * best {
            break;
        }
        let Some(Piece { low, high, .. }) = heap.pop() else { break };
        let middle = end(between(low.x, high.x));
        best = best.max(middle.few_positives * middle.few_negatives);
        heap.extend([piece(low, middle), piece(middle, high)]);
    }
    combined(heap.peek().map_or(best, |piece| piece.bound.max(best)))
}

/// G(q) = q (1 - ln q).
fn combined(product: f64) -> f64 {
    if product <= 0.0 { 0.0 } else { (product * (1.0 - log(product))).min(1.0) }
}

/// P(Binomial(n, p) <= k) = P(Beta(k + 1, n - k) > p).
fn at_most(k: u64, n: u64, p: f64) -> f64 {
    if k >= n || p <= 0.0 {
        return 1.0;
    }
    if p >= 1.0 {
        return 0.0;
    }
    if k == 0 {
        return exp(n as f64 * libm::log1p(-p));
    }
    if k + 1 == n {
        return -expm1(n as f64 * log(p));
    }
    Beta::new(k as f64 + 1.0, (n - k) as f64).tails(p / (1.0 - p))[1]
}

/// A rate between two others, at which the search splits.
///
/// Small rates that are far apart are split at their geometric mean, so the search reaches the smallest rates soon.
fn between(low: f64, high: f64) -> f64 {
    const LEAST: f64 = 1e-12;
    if high < 0.5 && high > 4.0 * low.max(LEAST) {
        (low.max(LEAST) * high).sqrt()
    } else {
        0.5 * (low + high)
    }
}

#[derive(Clone, Copy)]
struct End {
    x: f64,
    few_positives: f64,
    few_negatives: f64,
}

/// An interval of rates, and an upper bound on the product within it.
struct Piece {
    bound: f64,
    low: End,
    high: End,
}

impl Ord for Piece {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound)
    }
}

impl PartialOrd for Piece {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Piece {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Piece {}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::{Purpose, Setting, Stream, World, normal};

    fn counts(false_positives: u64, false_negatives: u64, observations: u64) -> ErrorCounts {
        ErrorCounts {
            false_positives,
            false_negatives,
            observations_in: observations,
            observations_out: observations,
        }
    }

    fn gaussian(mu: f64) -> impl Fn(f64) -> f64 {
        move |x| match x {
            x if x <= 0.0 => 1.0,
            x if x >= 1.0 => 0.0,
            x => normal::cdf(-normal::quantile(x) - mu),
        }
    }

    /// The values on a fine grid lie below the bound, and close to it.
    #[test]
    fn the_bound_is_the_supremum() {
        for counts in [
            counts(3, 40, 100),
            counts(0, 900, 1000),
            counts(200, 10, 1000),
            counts(50, 50, 100),
            counts(0, 0, 50),
        ] {
            for mu in [0.1, 1.0, 2.5] {
                let curve = gaussian(mu);
                let value = |i: i32| {
                    let x = normal::cdf(f64::from(i) / 500.0);
                    combined(
                        at_most(counts.false_positives, counts.observations_out, x)
                            * at_most(counts.false_negatives, counts.observations_in, curve(x)),
                    )
                };
                let grid = (-4000..=4000).map(value).fold(0.0, f64::max);
                let ours = p_value(&counts, &curve);
                assert!(grid <= 1.000_001 * ours && ours <= 1.02 * grid, "{counts:?} {mu}: {grid} {ours}");
            }
        }
    }

    #[test]
    fn fewer_errors_are_more_evidence() {
        let curve = |x| of_epsilon(1.0, 1e-5, x);
        let p = |positives, negatives| p_value(&counts(positives, negatives, 1000), curve);
        assert!(p(10, 900) < p(20, 900) && p(10, 900) < p(10, 920));
        assert!(p(500, 500) > 0.99, "guessing refutes nothing: {}", p(500, 500));
        assert!(p(0, 0) < 1e-100);
    }

    #[test]
    fn the_curve_of_epsilon() {
        assert!((of_epsilon(0.0, 0.0, 0.3) - 0.7).abs() < 1e-15);
        assert!((of_epsilon(1.0, 0.1, 0.0) - 0.9).abs() < 1e-15);
        assert!(of_epsilon(3.0, 0.0, 1.0).abs() < 1e-15);
        // The curve is its own inverse.
        let y = of_epsilon(0.7, 0.02, 0.1);
        assert!((of_epsilon(0.7, 0.02, y) - 0.1).abs() < 1e-12);
    }

    /// Error rates exactly on the curve, at several thresholds: p <= 0.05 in at most 5 % of 4,000 runs. More than 280
    /// such runs have a probability below 1e-7 in each of the twelve cases.
    #[test]
    fn is_small_no_more_often_than_it_says() {
        let stream = Stream::new(&Setting::default().hash());
        let mut cell = 0;
        for mu in [0.0, 0.5, 1.5] {
            for threshold in [0.0, 0.7, 1.5, 2.2] {
                let rates = [normal::cdf(-threshold), normal::cdf(threshold - mu)];
                cell += 1;
                let run = |run: u64| {
                    let errors = [0_u32, 1].map(|world| {
                        let happens = |i: u64| {
                            let bits =
                                stream.uniform(Purpose::Position, World::In, run << 8 | i, 2 * cell + world);
                            (bits as f64) * 2_f64.powi(-64) < rates[world as usize]
                        };
                        (0..200).filter(|&i| happens(i)).count() as u64
                    });
                    bounded_p_value(&counts(errors[0], errors[1], 200), gaussian(mu), 1.2) <= 0.05
                };
                let small = (0..4000).filter(|&i| run(i)).count();
                assert!(small <= 280, "mu {mu}, threshold {threshold}: {small}");
            }
        }
    }
}
