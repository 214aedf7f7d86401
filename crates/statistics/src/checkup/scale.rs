//! Is the noise as large as claimed: in all outputs, in every step, in every tensor?

use super::Outcome;
use super::record::{Table, squares};
use crate::chi_square;
use libm::sqrt;

/// Tests whether residuals, in units of the claimed noise, are too small: the lower tail of their sum of squares.
///
/// Under the claim each is N(b, 1), and the mean b may depend on everything before it. The sum of squares is then
/// stochastically at least chi-square, so the lower tail is a valid p-value for any b.
pub(super) fn of_all(tables: &[Table]) -> Outcome {
    let values: usize = tables.iter().map(|table| table.values.len()).sum();
    let sum: f64 = tables.iter().map(|table| squares(&table.values)).sum();
    Outcome::of(lower_tail(sum, values), sqrt(sum / values as f64)).only_if(values > 0)
}

/// The same test in each step, Bonferroni over the steps. `at` is the step with the smallest noise.
pub(super) fn in_every_step(tables: &[Table]) -> Outcome {
    let rows = tables.iter().filter(|table| table.columns > 0).flat_map(Table::rows);
    smallest(rows.map(|row| (squares(row), row.len())))
}

/// The same test in each tensor, Bonferroni over the tensors. `tensors` says which tensor each column belongs to.
pub(super) fn in_every_tensor(tables: &[Table], tensors: &[usize]) -> Outcome {
    let mut sums = vec![(0.0, 0); tensors.iter().max().map_or(0, |last| last + 1)];
    for row in tables.iter().flat_map(Table::rows) {
        for (value, &tensor) in row.iter().zip(tensors) {
            sums[tensor].0 += value * value;
            sums[tensor].1 += 1;
        }
    }
    smallest(sums.into_iter())
}

/// The smallest p-value of several sums of squares, times their number.
fn smallest(sums: impl Iterator<Item = (f64, usize)>) -> Outcome {
    let each = sums.enumerate().filter(|(_, (_, values))| *values > 0);
    let tests: Vec<_> =
        each.map(|(at, (sum, values))| (lower_tail(sum, values), sum / values as f64, at)).collect();
    let Some(&(p, square, at)) = tests.iter().min_by(|one, other| one.0.total_cmp(&other.0)) else {
        return Outcome::default();
    };
    Outcome::of(p * tests.len() as f64, sqrt(square)).at(at)
}

fn lower_tail(sum: f64, values: usize) -> f64 {
    if values == 0 { 1.0 } else { chi_square::tails(values as f64, sum)[0] }
}
