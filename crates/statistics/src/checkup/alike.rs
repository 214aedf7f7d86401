//! Is the noise the same in all steps and directions, and for batches of all sizes?
//!
//! Let a and b be the sums of squares of m and n residuals. If all are N(0, v), a / (a + b) has the law Beta(m/2, n/2),
//! whatever v is.

use super::Outcome;
use super::record::{RunRecord, Table, squares};
use crate::beta::Beta;
use libm::sqrt;

/// A sum of squares, and of how many values.
type Sum = (f64, usize);

/// Compares each step with all others, and each direction with all others.
pub(super) fn over_steps_and_directions(tables: &[Table]) -> Outcome {
    let columns = tables.first().map_or(0, |table| table.columns);
    let mut directions = vec![(0.0, 0); columns];
    let mut steps = Vec::new();
    for row in tables.iter().filter(|table| table.columns == columns).flat_map(Table::rows) {
        steps.push((squares(row), row.len()));
        for (sum, value) in directions.iter_mut().zip(row) {
            sum.0 += value * value;
            sum.1 += 1;
        }
    }
    let tests: Vec<_> =
        [&steps, &directions].into_iter().filter_map(|sums| each_with_the_rest(sums)).collect();
    let smallest = tests.iter().min_by(|one, other| one.0.total_cmp(&other.0));
    smallest.map_or_else(Outcome::default, |&(p, ratio)| Outcome::of(p * tests.len() as f64, ratio))
}

/// Compares the steps whose batches are smaller than the median with those whose batches are larger.
///
/// If a sum is divided by the size of its own batch, small batches have the louder noise, and tell their size.
/// `measured` is the ratio of the two deviations.
pub(super) fn over_batch_sizes(tables: &[Table], runs: &[RunRecord]) -> Outcome {
    let mut sizes: Vec<u64> = runs.iter().flat_map(|run| &run.batch_sizes).copied().collect();
    sizes.sort_unstable();
    let Some(&median) = sizes.get(sizes.len() / 2) else {
        return Outcome::default();
    };
    let [mut small, mut large]: [Sum; 2] = [(0.0, 0); 2];
    for (table, run) in tables.iter().zip(runs).filter(|(table, _)| table.columns > 0) {
        for (row, &size) in table.rows().zip(&run.batch_sizes).filter(|(_, size)| **size != median) {
            let half = if size < median { &mut small } else { &mut large };
            half.0 += squares(row);
            half.1 += row.len();
        }
    }
    two_sided(small, large).map_or_else(Outcome::default, |(p, ratio)| Outcome::of(p, ratio))
}

/// The smallest p-value times the number of sums, and the ratio of deviations.
fn each_with_the_rest(sums: &[Sum]) -> Option<(f64, f64)> {
    let total = sums.iter().fold((0.0, 0), |total, sum| (total.0 + sum.0, total.1 + sum.1));
    let tests = sums.iter().filter_map(|&sum| two_sided(sum, (total.0 - sum.0, total.1 - sum.1)));
    let (p, ratio) = tests.min_by(|one, other| one.0.total_cmp(&other.0))?;
    Some((p * sums.len() as f64, ratio))
}

/// The two-sided p-value, and the ratio of the deviations.
fn two_sided((one, ones): Sum, (other, others): Sum) -> Option<(f64, f64)> {
    if ones == 0 || others == 0 {
        return None;
    }
    let [below, above] = Beta::new(0.5 * ones as f64, 0.5 * others as f64).tails(one / other);
    Some((2.0 * below.min(above), sqrt(one / ones as f64 / (other / others as f64))))
}
