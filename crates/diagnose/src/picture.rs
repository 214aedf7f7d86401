//! A few thousand points of a log, for a plot.

use crate::logged_epochs::LoggedEpochs;
use misdeal_results::{EpochPositions, PositionSample};

/// Number of epochs that are shown; the first ones are.
const EPOCHS: usize = 3;
/// Largest number of records shown for each epoch.
const RECORDS: usize = 2000;

/// Samples every k-th record of the file, with its position in each shown epoch.
pub fn sample(logged: &LoggedEpochs) -> PositionSample {
    let every = logged.dataset_size.div_ceil(RECORDS).max(1);
    let epochs = logged.epochs.iter().zip(&logged.numbers).take(EPOCHS).map(|(epoch, &number)| {
        let places = (0_u64..).zip(&epoch.records);
        let shown = places.filter(|&(_, &record)| (record as usize).is_multiple_of(every));
        let points = shown.map(|(place, &record)| [u64::from(record), place]).collect();
        EpochPositions { epoch: number, points }
    });
    PositionSample {
        dataset_size: logged.dataset_size as u64,
        epoch_length: logged.epochs.iter().map(|epoch| epoch.records.len()).max().unwrap_or(0) as u64,
        epochs: epochs.collect(),
    }
}
