//! How useful trained models are, and how large the bias is, in sums that are exact and merge in any order.

/// The unit in which biases are summed: 2^-32.
const BIAS_UNIT: f64 = 1.0 / 4_294_967_296.0;

/// The exact sum and sum of squares of whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moments {
    count: u64,
    sum: i128,
    sum_of_squares: i128,
}

impl Moments {
    /// Adds a number below 2^53 in size.
    pub fn insert(&mut self, value: i64) {
        self.count += 1;
        self.sum += i128::from(value);
        self.sum_of_squares += i128::from(value) * i128::from(value);
    }

    /// Adds all numbers of another: associative and commutative.
    pub fn merge(&mut self, other: &Moments) {
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
    }

    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean and standard deviation (with n - 1; zero for one number) in units of `unit`; none without numbers.
    pub fn finish(&self, unit: f64) -> Option<Spread> {
        if self.count == 0 {
            return None;
        }
        let count = i128::from(self.count);
        let mean = self.sum as f64 / count as f64 * unit;
        // n sum x^2 - (sum x)^2 in whole numbers: nothing cancels.
        let squares = self.sum_of_squares.checked_mul(count).zip(self.sum.checked_mul(self.sum));
        let scaled = squares
            .map_or(self.sum_of_squares as f64 * count as f64 - (self.sum as f64).powi(2), |(all, mean)| {
                (all - mean) as f64
            });
        let variance = scaled.max(0.0) / (count as f64 * (count - 1).max(1) as f64);
        Some(Spread { mean, standard_deviation: variance.sqrt() * unit })
    }
}

/// A mean and a standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub standard_deviation: f64,
}

/// What trained models are worth, and what disturbs the adversary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Utility {
    /// Training records that each measured model classifies correctly.
    pub train_hits: Moments,
    /// How many training records a model was asked about.
    pub train_records: u64,
    /// Test records that each measured model classifies correctly.
    pub test_hits: Moments,
    /// How many test records a model was asked about.
    pub test_records: u64,
    bias: Moments,
}

impl Utility {
    /// Adds the natural records' projection on a canary in one step, to the nearest 2^-32.
    pub fn insert_bias(&mut self, bias: f64) {
        self.bias.insert((bias / BIAS_UNIT).round() as i64);
    }

    /// Adds what another collected: associative and commutative, so that no split of the work shows.
    pub fn merge(&mut self, other: &Utility) {
        self.train_hits.merge(&other.train_hits);
        self.test_hits.merge(&other.test_hits);
        self.bias.merge(&other.bias);
        self.train_records = self.train_records.max(other.train_records);
        self.test_records = self.test_records.max(other.test_records);
    }

    /// The share of training records classified correctly, over the measured models.
    pub fn train_accuracy(&self) -> Option<Spread> {
        self.train_hits.finish(1.0 / self.train_records.max(1) as f64)
    }

    /// The share of test records classified correctly; none without test data.
    pub fn test_accuracy(&self) -> Option<Spread> {
        self.test_hits.finish(1.0 / self.test_records.max(1) as f64)
    }

    /// The natural records' projection on the canary, over all steps, canaries and models.
    pub fn bias(&self) -> Option<Spread> {
        self.bias.finish(BIAS_UNIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_the_textbook_s_in_any_order() {
        let values = [3_i64, -7, 1 << 40, 5, 5];
        let mut whole = Moments::default();
        for value in values {
            whole.insert(value);
        }
        let mut parts = [Moments::default(), Moments::default()];
        for (i, &value) in values.iter().rev().enumerate() {
            parts[i % 2].insert(value);
        }
        let [mut merged, other] = parts;
        merged.merge(&other);
        assert_eq!(merged, whole);
        let mut simple = Moments::default();
        for value in [2, 4, 4, 4, 5, 5, 7, 9] {
            simple.insert(value);
        }
        let spread = simple.finish(0.5).unwrap();
        assert_eq!(spread.mean, 2.5);
        assert!((spread.standard_deviation - 0.5 * (32.0_f64 / 7.0).sqrt()).abs() < 1e-15);
        assert_eq!(Moments::default().finish(1.0), None);
    }

    #[test]
    fn biases_keep_nine_digits() {
        let mut utility = Utility::default();
        for bias in [0.25, 1e-6, -0.75] {
            utility.insert_bias(bias);
        }
        assert!((utility.bias().unwrap().mean - (-0.499999 / 3.0)).abs() < 1e-9);
    }
}
