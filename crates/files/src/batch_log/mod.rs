//! The batches of a data loader, from `.jsonl`, `.npy` and `.parquet` files.

mod columnar;
mod json_lines;
mod npy;

/// The readers, applied to bytes in memory, for fuzzing.
#[cfg(fuzzing)]
pub mod fuzzing {
    pub use super::columnar::read as parquet;
    pub use super::json_lines::read as json_lines;
    pub use super::npy::read as npy;
}

use crate::{Error, Result, input};
use std::path::Path;

/// Limit for the number of records in all batches of a log.
pub const MOST_ENTRIES: usize = 1 << 31;

/// The largest allowed record index.
pub const LARGEST_RECORD: u64 = u32::MAX as u64 - 1;

/// Batches in the order of the file, stored compactly: 4 bytes per record and 24 per batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BatchLog {
    records: Vec<u32>,
    batches: Vec<LoggedBatch>,
    remarks: Vec<String>,
    /// The number of records of the data that a plan is for; logs of loaders do not know it.
    dataset_size: Option<u64>,
}

/// Epoch, rank and worker of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedBatch {
    /// The epoch's number in the log.
    pub epoch: u32,
    /// The process of a distributed run; 0 if not given.
    pub rank: u32,
    /// The loader's worker; `None` if not given.
    pub worker: Option<u32>,
    /// Index after the batch's last record. The batch begins where the previous one ends.
    end: usize,
}

impl BatchLog {
    /// Adds a batch.
    ///
    /// # Errors
    /// An index exceeds [`LARGEST_RECORD`], or the log would exceed [`MOST_ENTRIES`]. The message is a phrase that follows "batch
    /// N".
    pub fn push(
        &mut self,
        epoch: u32,
        rank: u32,
        worker: Option<u32>,
        records: impl IntoIterator<Item = u64>,
    ) -> std::result::Result<(), String> {
        for record in records {
            self.push_record(record)?;
        }
        self.end_batch(epoch, rank, worker);
        Ok(())
    }

    fn push_record(&mut self, record: u64) -> std::result::Result<(), String> {
        if record > LARGEST_RECORD {
            return Err(format!("holds the record index {record}, but {LARGEST_RECORD} is the largest"));
        }
        if self.records.len() == MOST_ENTRIES {
            return Err(format!("goes beyond {MOST_ENTRIES} entries, which are the most"));
        }
        self.records.push(record as u32);
        Ok(())
    }

    /// Ends the current batch.
    fn end_batch(&mut self, epoch: u32, rank: u32, worker: Option<u32>) {
        self.batches.push(LoggedBatch { epoch, rank, worker, end: self.records.len() });
    }

    /// All batches with their records, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (LoggedBatch, &[u32])> {
        let mut start = 0;
        self.batches.iter().map(move |&batch| {
            let records = &self.records[start..batch.end];
            start = batch.end;
            (batch, records)
        })
    }

    /// The number of records in the data, if the file is a plan that states it.
    pub fn dataset_size(&self) -> Option<u64> {
        self.dataset_size
    }

    /// The number of batches.
    pub fn len(&self) -> usize {
        self.batches.len()
    }

    /// Whether the log has no batches.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Number of records in all batches.
    pub fn entries(&self) -> usize {
        self.records.len()
    }

    /// What the reader left out, in words.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The smallest record index, if there is a record.
    pub fn smallest_record(&self) -> Option<u32> {
        self.records.iter().copied().min()
    }

    /// Counts every record one lower, for logs that count from 1. The smallest index must be 1 or more.
    pub fn count_from_zero(&mut self) {
        self.records.iter_mut().for_each(|record| *record -= 1);
    }

    /// The largest record index, if there is a record.
    pub fn largest_record(&self) -> Option<u32> {
        self.records.iter().copied().max()
    }
}

/// Reads all batches of a file.
///
/// - `.jsonl` or `.ndjson`: a JSON object on each line, `{"epoch": 0, "batch": [17, 3, 42]}`. Add `"rank"` and `"worker"` if there
///   are several. Blank lines are skipped. A last line that is cut off is left out, with a remark.
/// - `.npy`: integers of shape (epochs, batches, batch size), or (batches, batch size) for one epoch.
/// - `.parquet`: a row for each record, with the integer columns `epoch`, `batch` and `record`. Add `rank` and `worker` if there
///   are several. The rows of a batch follow one another. A batch ends where any column other than `record` changes. In a plan that
///   misdeal wrote, a number without rows is a batch without records.
///
/// Entries of -1 are not records: they fill up shorter batches.
///
/// Record indices count from 0, in the order of the file that the loader reads. Batches, and records in a batch, are in the
/// loader's order.
///
/// # Errors
/// The file is missing, empty or damaged, has another extension, lacks a field, has an index that is not a whole number up to
/// [`LARGEST_RECORD`], or has more records than [`MOST_ENTRIES`]. No memory is reserved for what a file only claims to contain.
pub fn read(path: &Path) -> Result<BatchLog> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let extension = match extension.as_deref() {
        Some(known @ ("jsonl" | "ndjson" | "npy" | "parquet")) => known,
        other => {
            let problem = match other {
                Some(other) => format!("the extension .{other} is not known"),
                None => "the name has no extension".into(),
            };
            let hint = "batches are read from .jsonl, .npy and .parquet files";
            return Err(Error::malformed(path, problem, hint));
        }
    };
    let (file, length) = input::open(path)?;
    if length == 0 {
        return Err(Error::malformed(path, "the file is empty", "log at least one batch"));
    }
    let log = match extension {
        "npy" => npy::read(path, file, length)?,
        "parquet" => columnar::read(path, file)?,
        _ => json_lines::read(path, file, length)?,
    };
    if log.entries() == 0 {
        return Err(Error::malformed(path, "it holds no records", "log at least one batch that has one"));
    }
    Ok(log)
}

#[cfg(test)]
mod tests;
