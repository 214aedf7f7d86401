//! Whether records come early or late in every epoch.

use crate::logged_epochs::LoggedEpoch;
use crate::p_values::normal;

/// How far the records' places in different epochs go together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Places {
    value: f64,
    variance: f64,
    /// The sum of squares in one epoch on average: the value of two epochs in the same order.
    most: f64,
}

impl Places {
    /// Compares the steps of every record in all pairs of epochs. Each epoch has a record at most once.
    ///
    /// A record's place is its step's, measured from the epoch's mean. The sum of products over all pairs of epochs has mean 0 if
    /// epochs are permuted independently. It is computed from each record's sum and sum of squares. Pairs of epochs are
    /// uncorrelated.
    pub fn of(epochs: &[LoggedEpoch], population: usize) -> Self {
        let mut sums = vec![0.0; population];
        let mut squares = 0.0;
        // Sums of squares of the earlier epochs.
        let mut earlier = 0.0;
        let mut found = Places::default();
        for epoch in epochs {
            let records = epoch.records.len() as f64;
            let mut place = 0.0;
            let mut of_epoch = 0.0;
            for step in epoch.steps() {
                let size = step.len() as f64;
                let distance = (place + 0.5 * size) / records.max(1.0) - 0.5;
                for &record in step {
                    sums[record as usize] += distance;
                }
                of_epoch += distance * distance * size;
                place += size;
            }
            found.variance += of_epoch * earlier / (population as f64 - 1.0).max(1.0);
            earlier += of_epoch;
            squares += of_epoch;
        }
        found.value = 0.5 * (sums.iter().map(|sum| sum * sum).sum::<f64>() - squares);
        if epochs.len() > 1 {
            found.most = 0.5 * squares * (epochs.len() - 1) as f64;
        }
        found
    }

    /// Two-sided p-value; 1 if there is nothing to compare.
    pub fn p_value(&self) -> f64 {
        if self.variance > 0.0 { normal(self.value / self.variance.sqrt()) } else { 1.0 }
    }

    /// The correlation of a record's places in two epochs, on average.
    pub fn correlation(&self) -> f64 {
        if self.most > 0.0 { self.value / self.most } else { 0.0 }
    }
}
