//! The shape of a run.

use super::{count, default_of_flags};
use clap::Args;
use misdeal_core::{Error, MOST_STEPS, Result, Setting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Batches and epochs.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShapeRequest {
    /// Batches in an epoch
    #[arg(long, allow_hyphen_values = true, default_value = "100", value_parser = count, value_name = "T")]
    pub steps_per_epoch: u64,
    /// Passes over the data
    #[arg(long, allow_hyphen_values = true, default_value = "1", value_parser = count, value_name = "E")]
    pub epochs: u64,
    /// Records in a batch
    #[arg(long, allow_hyphen_values = true, default_value = "100", value_parser = count, value_name = "B")]
    pub batch_size: u64,
    /// Records in the training data, instead of --steps-per-epoch: an epoch has the full batches of --batch-size
    #[arg(long, visible_alias = "records", allow_hyphen_values = true, value_parser = count, value_name = "N", conflicts_with = "steps_per_epoch")]
    pub dataset_size: Option<u64>,
    /// Steps in all epochs together, instead of --epochs
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "N", conflicts_with = "epochs")]
    pub steps: Option<u64>,
    /// Records in the buffer of partial-shuffle and stream-shuffle
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "K")]
    pub buffer_size: Option<u64>,
}

default_of_flags!(ShapeRequest);

/// The steps of a run, however they were stated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedSteps {
    /// Full batches in an epoch.
    pub steps_per_epoch: u64,
    /// Passes over the data, the last one perhaps not complete.
    pub epochs: u64,
    /// Steps in all epochs together.
    pub steps: u64,
    /// Records in a batch.
    pub batch_size: u64,
    /// Records in the training data, if they were stated.
    pub dataset_size: Option<u64>,
}

impl ShapeRequest {
    /// Counts the steps.
    ///
    /// # Errors
    /// Two statements about the same number, or a number out of range.
    pub fn counted(&self) -> Result<CountedSteps> {
        let &ShapeRequest { batch_size, dataset_size, steps, .. } = self;
        let usual = ShapeRequest::default();
        let steps_per_epoch = match dataset_size {
            None => self.steps_per_epoch,
            Some(_) if self.steps_per_epoch != usual.steps_per_epoch => {
                let hint = "`dataset_size` and `batch_size` give the steps of an epoch";
                let allowed = "none beside `dataset_size`";
                return Err(Error::bad_value("steps_per_epoch", self.steps_per_epoch, allowed, hint));
            }
            Some(records) => {
                const MOST: u64 = 1 << 53;
                if !(1..=MOST).contains(&records) {
                    let hint = "it counts the records in the training data";
                    let allowed = format!("a whole number from 1 to {MOST}");
                    return Err(Error::bad_value("dataset_size", records, allowed, hint));
                }
                if !(1..=records).contains(&batch_size) {
                    let allowed = format!("a whole number from 1 to {records}");
                    return Err(Error::bad_value(
                        "batch_size",
                        batch_size,
                        allowed,
                        "a batch has at most all records",
                    ));
                }
                if records / batch_size > MOST_STEPS {
                    let hint = "an epoch has dataset_size / batch_size steps";
                    let allowed = format!("fewer than {MOST_STEPS} batches");
                    return Err(Error::bad_value("dataset_size", records, allowed, hint));
                }
                records / batch_size
            }
        };
        let (epochs, steps) = match steps {
            None => (self.epochs, self.epochs.saturating_mul(steps_per_epoch)),
            Some(_) if self.epochs != usual.epochs => {
                let hint = "steps count all epochs together, so leave out one of the two";
                return Err(Error::bad_value("epochs", self.epochs, "none beside `steps`", hint));
            }
            Some(steps) if !(1..=MOST_STEPS).contains(&steps) => {
                let allowed = format!("a whole number from 1 to {MOST_STEPS}");
                return Err(Error::bad_value("steps", steps, allowed, "counts start at 1"));
            }
            Some(steps) => (steps.div_ceil(steps_per_epoch.max(1)), steps),
        };
        Ok(CountedSteps { steps_per_epoch, epochs, steps, batch_size, dataset_size })
    }
}

impl CountedSteps {
    /// The default setting with these steps, which must be complete epochs.
    ///
    /// # Errors
    /// A part of an epoch: the error names the two nearest numbers of steps.
    pub fn whole_epochs(&self) -> Result<Setting> {
        let &CountedSteps { steps_per_epoch, epochs, steps, .. } = self;
        if steps_per_epoch > 0 && steps != epochs.saturating_mul(steps_per_epoch) {
            let below = steps - steps % steps_per_epoch;
            let above = below.saturating_add(steps_per_epoch);
            let nearest = if below == 0 { above.to_string() } else { format!("{below} or {above}") };
            let allowed = format!("a multiple of the {steps_per_epoch} steps of an epoch, such as {nearest}");
            return Err(Error::bad_value(
                "steps",
                steps,
                allowed,
                "only poisson accounts for a part of an epoch",
            ));
        }
        Ok(self.with_epochs(epochs))
    }

    /// The default setting with this many complete epochs. The buffer belongs to the scheme.
    pub fn with_epochs(&self, epochs: u64) -> Setting {
        let &CountedSteps { steps_per_epoch, batch_size, .. } = self;
        Setting { steps_per_epoch, epochs, batch_size, ..Setting::default() }
    }

    /// The probability with which Poisson sampling has a record in a batch.
    pub fn sampling_probability(&self) -> f64 {
        match self.dataset_size {
            Some(records) => self.batch_size as f64 / records as f64,
            None => 1.0 / self.steps_per_epoch as f64,
        }
    }

    /// Records that fill no batch of an epoch, where the data set's size was stated.
    pub fn unused_records(&self) -> Option<u64> {
        self.dataset_size.map(|records| records - self.steps_per_epoch * self.batch_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_from_records() {
        let shape = ShapeRequest {
            dataset_size: Some(60_000),
            batch_size: 512,
            epochs: 15,
            ..ShapeRequest::default()
        };
        let counted = shape.counted().unwrap();
        assert_eq!((counted.steps_per_epoch, counted.steps, counted.unused_records()), (117, 1755, Some(96)));
        assert!((counted.sampling_probability() - 512.0 / 60_000.0).abs() < 1e-15);
        assert_eq!(counted.whole_epochs().unwrap().epochs, 15);
    }

    #[test]
    fn parts_of_epochs_are_refused_with_the_nearest_numbers() {
        let refused = |steps| {
            let counted = ShapeRequest { steps: Some(steps), ..ShapeRequest::default() }.counted().unwrap();
            counted.whole_epochs().unwrap_err().to_string()
        };
        assert!(refused(250).contains("such as 200 or 300"), "{}", refused(250));
        assert!(refused(7).contains("such as 100 is"), "{}", refused(7));
        let both = ShapeRequest { steps: Some(200), epochs: 3, ..ShapeRequest::default() };
        assert!(both.counted().unwrap_err().to_string().starts_with("epochs is 3"));
        let both = ShapeRequest { dataset_size: Some(200), steps_per_epoch: 3, ..ShapeRequest::default() };
        assert!(both.counted().unwrap_err().to_string().starts_with("steps_per_epoch is 3"));
        let large = ShapeRequest { dataset_size: Some(50), ..ShapeRequest::default() };
        assert!(large.counted().unwrap_err().to_string().starts_with("batch_size is 100"));
    }
}
