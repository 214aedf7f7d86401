//! Are there outputs without any noise?

use super::Outcome;
use super::record::Table;
use crate::binomial;

/// A residual below this many standard deviations counts as one without noise.
///
/// Rounding in single precision leaves less than this where nothing was added.
const WINDOW: f64 = 1e-5;

/// The density of N(0, 1) at 0, rounded up. No normal density with deviation 1 is larger anywhere.
const LARGEST_DENSITY: f64 = 0.4;

/// Tests whether more residuals are 0 than noise allows: a binomial count, whatever the means.
///
/// `resolution` is the relative spacing of the numbers. Rounding may move that much probability into the window.
pub(super) fn of_all(tables: &[Table], resolution: f64) -> Outcome {
    let all = || tables.iter().flat_map(|table| &table.values).map(|value| value.abs());
    let values = all().count();
    let largest = all().fold(1.0, f64::max);
    let found = all().filter(|value| *value < WINDOW).count();
    let chance = 2.0 * LARGEST_DENSITY * (WINDOW + resolution * largest);
    let p = binomial::tails(found as f64, values as f64, chance)[0];
    Outcome::of(p, found as f64 / values as f64).only_if(values > 0)
}
