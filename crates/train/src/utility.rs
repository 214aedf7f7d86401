//! Accuracy of trained models and bias of outputs, in exact sums that can be merged in any order.

use misdeal_core::{ScoreStore, Spread, Tally};

/// The unit in which biases are summed: 2^-32.
const BIAS_UNIT: f64 = 1.0 / 4_294_967_296.0;

/// Accuracy of trained models, and bias of the adversary's outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Utility {
    /// Correctly classified training records of each measured model.
    pub train_correct: Tally,
    /// Number of training records per model.
    pub train_records: u64,
    /// Correctly classified test records of each measured model.
    pub test_correct: Tally,
    /// Number of test records per model.
    pub test_records: u64,
    bias: Tally,
}

/// Names of the tallies in stores.
const TRAIN_CORRECT: &str = "training records classified correctly";
const TEST_CORRECT: &str = "test records classified correctly";
const BIAS: &str = "bias in units of 2^-32";

impl Utility {
    /// Adds the bias of one output, rounded to 2^-32.
    pub fn insert_bias(&mut self, bias: f64) {
        self.bias.insert((bias / BIAS_UNIT).round() as i64);
    }

    /// Adds outputs without bias, faster than one by one.
    pub fn insert_zeros(&mut self, mut outputs: u64) {
        let mut zeros = Tally::default();
        zeros.insert(0);
        while outputs > 0 {
            if outputs % 2 == 1 {
                self.bias.merge(&zeros);
            }
            zeros.merge(&zeros.clone());
            outputs /= 2;
        }
    }

    /// Adds another utility; associative and commutative.
    pub fn merge(&mut self, other: &Utility) {
        self.train_correct.merge(&other.train_correct);
        self.test_correct.merge(&other.test_correct);
        self.bias.merge(&other.bias);
        self.train_records = self.train_records.max(other.train_records);
        self.test_records = self.test_records.max(other.test_records);
    }

    /// Writes the utility to the store that holds the same trials.
    pub fn keep_in(&self, store: &mut ScoreStore) {
        store.insert_tally(TRAIN_CORRECT, &self.train_correct);
        store.insert_tally(TEST_CORRECT, &self.test_correct);
        store.insert_tally(BIAS, &self.bias);
    }

    /// Reads the utility of a store. The numbers of records are not stored.
    pub fn kept_in(store: &ScoreStore) -> Self {
        let [train_correct, test_correct, bias] =
            [TRAIN_CORRECT, TEST_CORRECT, BIAS].map(|name| store.tally(name));
        Utility { train_correct, test_correct, bias, ..Utility::default() }
    }

    /// Training accuracy over the measured models.
    pub fn train_accuracy(&self) -> Option<Spread> {
        self.train_correct.finish(1.0 / self.train_records.max(1) as f64)
    }

    /// Test accuracy over the measured models; `None` without test data.
    pub fn test_accuracy(&self) -> Option<Spread> {
        self.test_correct.finish(1.0 / self.test_records.max(1) as f64)
    }

    /// Bias of outputs caused by natural gradients, over all steps, canaries and models.
    pub fn bias(&self) -> Option<Spread> {
        self.bias.finish(BIAS_UNIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_inserted_as_one_by_one() {
        for count in [0, 1, 6, 1000] {
            let (mut fast, mut slow) = (Utility::default(), Utility::default());
            fast.insert_zeros(count);
            (0..count).for_each(|_| slow.insert_bias(0.0));
            assert_eq!(fast, slow);
        }
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
