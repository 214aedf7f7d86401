//! Is noise used twice: in several steps, tensors or runs?
//!
//! Where means are known, residuals that should be independent are set side by side, u and v. Given u, the direction of v
//! is uniform, so that (1 + r) / 2 with their correlation r has the law Beta((n-1)/2, (n-1)/2), whatever the size of the
//! noise.
//!
//! Where natural gradients reach the outputs, these may be correlated in correct training. There the differences v - u
//! are tested instead. Given all before it, v - u is N(b, 1) with some b. The sum of squares is at least chi-square, as in
//! `scale`. Repeated noise leaves differences that are far too small.

use super::Outcome;
use super::record::{Table, squares};
use crate::beta::Beta;
use crate::chi_square;
use libm::sqrt;

/// Steps up to this far apart are compared.
const FARTHEST: usize = 16;

/// Pairs of values that would be equal if noise were used twice.
#[derive(Debug, Default)]
struct Pairs {
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Pairs {
    fn extend(&mut self, first: &[f64], second: &[f64]) {
        self.first.extend_from_slice(first);
        self.second.extend_from_slice(second);
    }

    /// The p-value, and the correlation.
    fn test(&self, means_are_known: bool) -> Option<(f64, f64)> {
        let values = self.first.len();
        let product: f64 = self.first.iter().zip(&self.second).map(|(one, other)| one * other).sum();
        let norms = sqrt(squares(&self.first) * squares(&self.second));
        if values < 2 || norms == 0.0 {
            return None;
        }
        let correlation = (product / norms).clamp(-1.0, 1.0);
        let p = if means_are_known {
            correlation_p_value(correlation, values)
        } else {
            let differences =
                self.first.iter().zip(&self.second).map(|(one, other)| (one - other) * (one - other));
            chi_square::tails(values as f64, differences.sum())[0]
        };
        Some((p, correlation))
    }
}

/// The two-sided p-value of the correlation of a vector of `values` entries with one of uniform direction.
pub(super) fn correlation_p_value(correlation: f64, values: usize) -> f64 {
    let shape = 0.5 * (values as f64 - 1.0);
    let odds = (1.0 + correlation) / (1.0 - correlation);
    let [below, above] = Beta::new(shape, shape).tails(odds);
    (2.0 * below.min(above)).min(1.0)
}

/// Tests pairs of steps of one run: those 1 to 16 apart, and those one epoch apart. `at` is the distance.
pub(super) fn over_steps(tables: &[Table], steps_per_epoch: usize, means_are_known: bool) -> Outcome {
    let mut distances: Vec<usize> = (1..=FARTHEST).collect();
    if steps_per_epoch > FARTHEST {
        distances.push(steps_per_epoch);
    }
    of_all(
        distances.into_iter().map(|distance| {
            let mut pairs = Pairs::default();
            for table in tables.iter().filter(|table| table.columns > 0) {
                let rows: Vec<&[f64]> = table.rows().collect();
                // Each step is in one pair: the first `distance` steps of every 2 `distance` with the next ones.
                for block in rows.chunks(2 * distance).filter(|block| block.len() > distance) {
                    let (first, second) = block.split_at(distance);
                    first.iter().zip(second).for_each(|(one, other)| pairs.extend(one, other));
                }
            }
            (distance, pairs)
        }),
        means_are_known,
    )
}

/// Tests pairs of runs, each step with the same step of the other run. Runs one apart and two apart are compared.
pub(super) fn over_runs(tables: &[Table], means_are_known: bool) -> Outcome {
    of_all(
        [1, 2].into_iter().map(|distance| {
            let mut pairs = Pairs::default();
            for block in tables.chunks(2 * distance).filter(|block| block.len() > distance) {
                let (first, second) = block.split_at(distance);
                for (one, other) in
                    first.iter().zip(second).filter(|(one, other)| one.columns == other.columns)
                {
                    let values = one.values.len().min(other.values.len());
                    pairs.extend(&one.values[..values], &other.values[..values]);
                }
            }
            (distance, pairs)
        }),
        means_are_known,
    )
}

/// Tests pairs of tensors, by their first coordinates in the same step. Tensors 1, 2 and 3 apart are compared.
pub(super) fn over_tensors(tables: &[Table], tensors: &[usize], means_are_known: bool) -> Outcome {
    let ranges: Vec<(usize, usize)> = tensors
        .chunk_by(|one, other| one == other)
        .scan(0, |start, group| {
            let range = (*start, *start + group.len());
            *start = range.1;
            Some(range)
        })
        .collect();
    of_all(
        (1..=3).map(|distance| {
            let mut pairs = Pairs::default();
            for block in ranges.chunks(2 * distance).filter(|block| block.len() > distance) {
                let (first, second) = block.split_at(distance);
                for (one, other) in first.iter().zip(second) {
                    let width = (one.1 - one.0).min(other.1 - other.0);
                    for row in tables.iter().flat_map(Table::rows) {
                        pairs.extend(&row[one.0..one.0 + width], &row[other.0..other.0 + width]);
                    }
                }
            }
            (distance, pairs)
        }),
        means_are_known,
    )
}

/// The smallest p-value of several tests, times their number.
fn of_all(pairs: impl Iterator<Item = (usize, Pairs)>, means_are_known: bool) -> Outcome {
    let tests = pairs.filter_map(|(at, pairs)| pairs.test(means_are_known).map(|test| (test, at)));
    let tests: Vec<_> = tests.collect();
    let Some(&((p, correlation), at)) = tests.iter().min_by(|one, other| one.0.0.total_cmp(&other.0.0))
    else {
        return Outcome::default();
    };
    Outcome::of(p * tests.len() as f64, correlation).at(at)
}
