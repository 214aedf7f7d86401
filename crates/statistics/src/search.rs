//! Finds the best of very many thresholds, by branch and bound.

use crate::{ErrorCounts, ErrorEstimator};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Error counts at ascending thresholds, called knots.
///
/// With a higher threshold, false negatives never decrease and false positives never increase.
pub struct Curve {
    false_negatives: Vec<u64>,
    false_positives: Vec<u64>,
}

impl Curve {
    /// The curve over ascending cells, each with its numbers of scores `In` and `Out`.
    ///
    /// The scores of one cell always lie on the same side of a knot. Knot i lies below cell i, and the last knot lies
    /// above all cells. `below` scores `In` lie below the first knot. `above` scores `Out` lie above the last knot.
    pub fn new(cells: &[[u64; 2]], below: u64, above: u64) -> Self {
        let mut false_negatives = Vec::with_capacity(cells.len() + 1);
        let mut false_positives = Vec::with_capacity(cells.len() + 1);
        let mut positives = above + cells.iter().map(|cell| cell[1]).sum::<u64>();
        let mut negatives = below;
        for [scores_in, scores_out] in cells {
            false_negatives.push(negatives);
            false_positives.push(positives);
            negatives += scores_in;
            positives -= scores_out;
        }
        false_negatives.push(negatives);
        false_positives.push(positives);
        Curve { false_negatives, false_positives }
    }

    /// The number of knots.
    pub fn knots(&self) -> usize {
        self.false_negatives.len()
    }

    /// The false negatives and the false positives at a knot.
    pub fn errors(&self, knot: usize) -> [u64; 2] {
        [self.false_negatives[knot], self.false_positives[knot]]
    }

    /// The false negatives at the knot below `cell`, and the false positives at the knot above it.
    pub fn around(&self, cell: usize) -> [u64; 2] {
        [self.false_negatives[cell], self.false_positives[cell + 1]]
    }
}

/// The objective of the search: an estimator's epsilon for given totals.
pub struct Objective<'a> {
    pub estimator: &'a dyn ErrorEstimator,
    pub observations_in: u64,
    pub observations_out: u64,
    pub delta: f64,
    pub significance: f64,
}

impl Objective<'_> {
    fn value(&self, false_negatives: u64, false_positives: u64) -> f64 {
        let (observations_in, observations_out) = (self.observations_in, self.observations_out);
        let counts = ErrorCounts { false_positives, false_negatives, observations_in, observations_out };
        self.estimator.epsilon(&counts, self.delta, self.significance)
    }
}

/// The result of a search.
pub struct Found {
    /// The largest value above the floor and its knot.
    pub best: Option<(f64, usize)>,
    /// Cells with a possibly better threshold inside, each with an upper bound on its value; the largest first.
    pub promising: Vec<(f64, usize)>,
}

/// The knot with the largest value, if the value is above `floor`.
///
/// With `inside`, the result also lists the cells that may hold better thresholds.
///
/// # Formal guarantees
/// - The value is the exact maximum over the knots. Between two knots there are at least as many false negatives as at
///   the lower one, and at least as many false positives as at the upper one. By the law of [`ErrorEstimator`], the
///   value at that pair of counts bounds all values between the knots. The search splits the interval with the largest
///   bound first. It ends when no bound is above the best value.
/// - The result depends only on the curve. Ties go to the knot that the search visits first, and its order is fixed.
pub fn search(curve: &Curve, objective: &Objective<'_>, floor: f64, inside: bool) -> Found {
    let value =
        |low: usize, high: usize| objective.value(curve.false_negatives[low], curve.false_positives[high]);
    let mut best = None;
    let mut top = floor;
    let mut consider = |knot: usize, top: &mut f64| {
        let value = value(knot, knot);
        if value > *top {
            *top = value;
            best = Some((value, knot));
        }
    };
    let last = curve.false_negatives.len() - 1;
    consider(0, &mut top);
    consider(last, &mut top);
    let mut heap = BinaryHeap::new();
    let mut promising = Vec::new();
    let mut fresh = vec![[0, last]];
    loop {
        for [low, high] in fresh.drain(..) {
            if high - low > usize::from(!inside) {
                let bound = value(low, high);
                if bound > top {
                    heap.push(Interval { bound, low, high });
                }
            }
        }
        match heap.pop() {
            Some(Interval { bound, low, high }) if bound > top => {
                if high - low == 1 {
                    promising.push((bound, low));
                } else {
                    let middle = low.midpoint(high);
                    consider(middle, &mut top);
                    fresh.extend([[low, middle], [middle, high]]);
                }
            }
            _ => break,
        }
    }
    promising.retain(|&(bound, _)| bound > top);
    Found { best, promising }
}

/// The thresholds between two knots, with an upper bound on their values.
struct Interval {
    bound: f64,
    low: usize,
    high: usize,
}

impl Ord for Interval {
    /// Orders by the largest bound first, then by the lowest thresholds.
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then_with(|| other.low.cmp(&self.low))
    }
}

impl PartialOrd for Interval {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Interval {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Interval {}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp)]
    use super::*;
    use crate::{ERROR_ESTIMATORS, Guarantee};
    use misdeal_core::normal;
    use proptest::{prelude::*, test_runner::RngSeed};
    use std::cell::Cell;

    fn objective<'a>(estimator: &'a dyn ErrorEstimator, cells: &[[u64; 2]], delta: f64) -> Objective<'a> {
        let [observations_in, observations_out] =
            [0, 1].map(|world| cells.iter().map(|cell| cell[world]).sum());
        Objective { estimator, observations_in, observations_out, delta, significance: 0.05 }
    }

    /// The best value over all knots, and all cells that could hold a larger value.
    fn brute_force(curve: &Curve, objective: &Objective<'_>) -> (f64, Vec<usize>) {
        let knots = curve.false_negatives.iter().zip(&curve.false_positives);
        let best = knots.map(|(&low, &high)| objective.value(low, high)).fold(0.0, f64::max);
        let cells = (0..curve.false_negatives.len() - 1).filter(|&cell| {
            let [negatives, positives] = curve.around(cell);
            objective.value(negatives, positives) > best
        });
        (best, cells.collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 1000,
            rng_seed: RngSeed::Fixed(25),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn finds_what_brute_force_finds(
            cells in prop::collection::vec((0_u64..200, 0_u64..200), 1..80), slope in -3_i32..4, delta in 0.0..0.05_f64,
        ) {
            // Tilted, so the two worlds differ.
            let tilt = |i: usize, count: u64| (count as f64 * libm::exp(-f64::from(slope * i as i32) / 30.0)) as u64;
            let cells: Vec<_> = cells.iter().enumerate().map(|(i, &(a, b))| [a, tilt(i, b)]).collect();
            let curve = Curve::new(&cells, 0, 0);
            // The slower estimators use the same search, so they are left out.
            for estimator in ERROR_ESTIMATORS.into_iter().filter(|one| ["clopper-pearson", "raw", "log-katz"].contains(&one.name())) {
                let objective = objective(estimator, &cells, delta);
                let (exact, exact_cells) = brute_force(&curve, &objective);
                for inside in [false, true] {
                    let found = search(&curve, &objective, f64::NEG_INFINITY, inside);
                    let (best, knot) = found.best.unwrap();
                    prop_assert_eq!(best, exact);
                    prop_assert_eq!(best, objective.value(curve.false_negatives[knot], curve.false_positives[knot]));
                    let mut cells: Vec<_> = found.promising.iter().map(|&(_, cell)| cell).collect();
                    cells.sort_unstable();
                    prop_assert_eq!(&cells, if inside { &exact_cells } else { &cells });
                    prop_assert!(inside || cells.is_empty());
                }
                prop_assert!(search(&curve, &objective, exact, false).best.is_none());
            }
        }
    }

    /// Two normal laws one standard deviation apart, with 1e8 scores each, on 20,000 thresholds.
    #[test]
    fn a_realistic_curve_takes_few_evaluations() {
        thread_local!(static CALLS: Cell<u32> = const { Cell::new(0) });
        struct Counted(&'static dyn ErrorEstimator);
        impl ErrorEstimator for Counted {
            fn name(&self) -> &'static str {
                self.0.name()
            }
            fn guarantee(&self) -> Guarantee {
                self.0.guarantee()
            }
            fn epsilon(&self, counts: &ErrorCounts, delta: f64, significance: f64) -> f64 {
                CALLS.set(CALLS.get() + 1);
                self.0.epsilon(counts, delta, significance)
            }
        }
        let edge = |i: i32| f64::from(i) / 1250.0 - 8.0;
        let count = |from: f64, to: f64| (1e8 * (normal::cdf(to) - normal::cdf(from))).round() as u64;
        let cells: Vec<_> = (0..20_000)
            .map(|i| [count(edge(i) - 1.0, edge(i + 1) - 1.0), count(edge(i), edge(i + 1))])
            .collect();
        let curve = Curve::new(&cells, 0, 0);
        let counted = Counted(ERROR_ESTIMATORS[0]);
        let objective = objective(&counted, &cells, 1e-5);
        let (best, _) = search(&curve, &objective, f64::NEG_INFINITY, false).best.unwrap();
        let calls = CALLS.get();
        assert_eq!(best, brute_force(&curve, &objective).0);
        assert!(calls < 2000, "{calls}");
    }
}
