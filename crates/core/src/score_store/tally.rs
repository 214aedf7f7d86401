//! Sums of whole numbers that trials give beside their scores, computed exactly.
//!
//! # Why does a store keep them?
//! Accuracies and biases of trained models must survive everything that scores survive. A training may be killed,
//! resumed, extended or merged. It still reports the accuracy of all its models, and its store has the same bytes as
//! that of an uninterrupted run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The count of some whole numbers, their sum and the sum of their squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    count: u64,
    sum: i128,
    sum_of_squares: i128,
}

/// A mean and a standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub standard_deviation: f64,
}

impl Tally {
    /// Adds one number, which must be below 2^53 in size.
    pub fn insert(&mut self, value: i64) {
        let value = i128::from(value);
        self.merge(&Tally { count: 1, sum: value, sum_of_squares: value * value });
    }

    /// Adds all numbers of another tally.
    ///
    /// Merging is associative and commutative for fewer than 2^42 numbers of the largest size.
    pub fn merge(&mut self, other: &Tally) {
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
    }

    /// The count of the numbers.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean and standard deviation in units of `unit`; `None` if there are no numbers.
    ///
    /// The deviation divides by n - 1. For one number it is zero.
    pub fn finish(&self, unit: f64) -> Option<Spread> {
        if self.count == 0 {
            return None;
        }
        let count = self.count as f64;
        let scaled = self.scaled_variance().map_or_else(
            || self.sum_of_squares as f64 * count - (self.sum as f64).powi(2),
            |scaled| scaled as f64,
        );
        let variance = scaled.max(0.0) / (count * (count - 1.0).max(1.0));
        Some(Spread { mean: self.sum as f64 / count * unit, standard_deviation: variance.sqrt() * unit })
    }

    /// n sum x^2 - (sum x)^2 in whole numbers, without cancellation; `None` if it overflows.
    fn scaled_variance(&self) -> Option<i128> {
        let all = self.sum_of_squares.checked_mul(self.count.into())?;
        all.checked_sub(self.sum.checked_mul(self.sum)?)
    }

    /// Whether some numbers can give this tally, as far as exact arithmetic can check.
    pub(super) fn is_possible(&self) -> bool {
        self.count > 0 && self.sum_of_squares >= 0 && self.scaled_variance().is_none_or(|scaled| scaled >= 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(values: &[i64]) -> Tally {
        let mut tally = Tally::default();
        for &value in values {
            tally.insert(value);
        }
        tally
    }

    #[test]
    fn tallies_are_the_textbook_s_in_any_order() {
        let mut merged = tally(&[5, 1 << 40, 3]);
        merged.merge(&tally(&[5, -7]));
        assert_eq!(merged, tally(&[3, -7, 1 << 40, 5, 5]));
        let spread = tally(&[2, 4, 4, 4, 5, 5, 7, 9]).finish(0.5).unwrap();
        assert_eq!(spread.mean, 2.5);
        assert!((spread.standard_deviation - 0.5 * (32.0_f64 / 7.0).sqrt()).abs() < 1e-15);
        assert_eq!(Tally::default().finish(1.0), None);
    }

    #[test]
    fn what_no_numbers_can_give_is_no_reason_to_panic() {
        for (sum, sum_of_squares) in [(i128::MAX, i128::MIN), (i128::MIN, i128::MAX), (0, i128::MIN)] {
            let mut strange = Tally { count: u64::MAX, sum, sum_of_squares };
            strange.merge(&strange.clone());
            assert!(strange.finish(1.0).is_some());
        }
    }
}
