//! Notices logs whose records are counted from 1.

use misdeal_files::batch_log::BatchLog;
use misdeal_results::{Defect, DefectName};

/// A log leaves record 0 out by chance at most with this probability.
const UNLIKELY: f64 = 1e-3;

/// The defect of a log that counts its records from 1; `None` if it seems to count from 0.
///
/// Such a log has all records from 1 to the largest and not 0. The largest is the stated size of the data set, or it is unlikely that
/// epochs as long as these leave one given record out.
pub fn from_one(log: &BatchLog, dataset_size: Option<u64>) -> Option<Defect> {
    let (smallest, largest) = (log.smallest_record()?, log.largest_record()?);
    if smallest != 1 || largest < 2 || log.entries() < largest as usize {
        return None;
    }
    let mut seen = vec![false; largest as usize + 1];
    let mut epochs = std::collections::BTreeMap::new();
    for (batch, records) in log.iter() {
        *epochs.entry(batch.epoch).or_insert(0_usize) += records.len();
        for &record in records {
            seen[record as usize] = true;
        }
    }
    if seen[1..].contains(&false) {
        return None;
    }
    let size = f64::from(largest) + 1.0;
    let by_chance: f64 = epochs.values().map(|&dealt| (1.0 - dealt as f64 / size).max(1.0 / size)).product();
    let is_stated = dataset_size == Some(u64::from(largest));
    if !is_stated && (dataset_size.is_some() || by_chance > UNLIKELY) {
        return None;
    }
    let message = format!(
        "The log has all records from 1 to {largest} and none with index 0: it counts from 1, and was read so. Count from 0, so that \
         indices are positions in the file."
    );
    Some(Defect { defect: DefectName::RecordsCountedFromOne, records: u64::from(largest), message })
}
