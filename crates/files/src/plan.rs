//! Writes plans: logs of batches that are still to be trained on.
//!
//! A plan is as secret as the seed that made it, so only its owner can read the file. It is written part by part: memory does not grow with the plan.

use crate::{Error, Result, atomic};
use parquet::basic::Encoding;
use parquet::column::writer::ColumnWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// The sizes of a plan. In a Parquet file they are metadata, so that a reader knows of batches without records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanSizes {
    /// Records in the training data.
    pub dataset_size: u64,
    /// Batches in an epoch.
    pub steps_per_epoch: u64,
    /// Passes over the data.
    pub epochs: u64,
}

/// The keys of the metadata, in the order of the fields.
pub(crate) const KEYS: [&str; 3] = ["misdeal.dataset_size", "misdeal.steps_per_epoch", "misdeal.epochs"];

/// Consecutive batches.
#[derive(Debug, Clone, Default)]
pub struct PlanPart {
    /// The first step, counted over all epochs.
    pub first_step: u64,
    /// The end of each batch in `records`.
    pub ends: Vec<usize>,
    /// The records of all batches, one batch after the other.
    pub records: Vec<u64>,
}

impl PlanPart {
    /// The batches with their steps, in order.
    fn batches(&self) -> impl Iterator<Item = (u64, &[u64])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let batches = starts.zip(&self.ends).map(|(start, &end)| &self.records[start..end]);
        (self.first_step..).zip(batches)
    }
}

/// The format of a plan, from the ending of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanFormat {
    /// A batch on each line.
    JsonLines,
    /// A row for each record.
    Parquet,
}

impl PlanFormat {
    /// The format for a path.
    ///
    /// # Errors
    /// The name ends in neither `.jsonl` nor `.parquet`.
    pub fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("jsonl" | "ndjson") => Ok(Self::JsonLines),
            Some("parquet") => Ok(Self::Parquet),
            _ => Err(Error::malformed(
                path,
                "it is no name of a plan",
                "plans are written to files that end in .jsonl or .parquet",
            )),
        }
    }
}

/// Receives the parts of a plan in order.
pub struct PlanWriter<'a>(Sink<'a>);

enum Sink<'a> {
    Lines { out: &'a mut (dyn Write + Send), steps_per_epoch: u64, line: Vec<u8> },
    Rows { file: SerializedFileWriter<&'a mut (dyn Write + Send)>, sizes: PlanSizes },
}

/// Writes a plan through `fill`, which hands over its parts. The file appears when it is complete, and only its owner can read it.
///
/// # Errors
/// The name has another ending, or the file cannot be written, or `fill` fails.
pub fn write(
    path: &Path,
    sizes: &PlanSizes,
    fill: impl FnOnce(&mut PlanWriter<'_>) -> io::Result<()>,
) -> Result<()> {
    let format = PlanFormat::of(path)?;
    atomic::write_privately(path, |out| {
        let sink = match format {
            PlanFormat::JsonLines => {
                Sink::Lines { out, steps_per_epoch: sizes.steps_per_epoch, line: Vec::new() }
            }
            PlanFormat::Parquet => Sink::Rows { file: rows(out, sizes)?, sizes: *sizes },
        };
        let mut writer = PlanWriter(sink);
        fill(&mut writer)?;
        match writer.0 {
            Sink::Lines { .. } => Ok(()),
            Sink::Rows { file, .. } => file.close().map(|_| ()).map_err(io::Error::other),
        }
    })
}

impl PlanWriter<'_> {
    /// Writes the next part.
    ///
    /// # Errors
    /// The disk is full, or the system fails otherwise.
    pub fn write(&mut self, part: &PlanPart) -> io::Result<()> {
        match &mut self.0 {
            Sink::Lines { out, steps_per_epoch, line } => {
                for (step, batch) in part.batches() {
                    line.clear();
                    line.extend_from_slice(b"{\"epoch\": ");
                    push_number(line, step / *steps_per_epoch);
                    line.extend_from_slice(b", \"batch\": [");
                    for (place, &record) in batch.iter().enumerate() {
                        if place > 0 {
                            line.extend_from_slice(b", ");
                        }
                        push_number(line, record);
                    }
                    line.extend_from_slice(b"]}\n");
                    out.write_all(line)?;
                }
                Ok(())
            }
            Sink::Rows { file, sizes } => {
                let mut group = file.next_row_group().map_err(io::Error::other)?;
                let runs: Vec<(u64, usize)> =
                    part.batches().map(|(step, batch)| (step, batch.len())).collect();
                let column = |number: &dyn Fn(u64) -> u64| -> Vec<i64> {
                    runs.iter()
                        .flat_map(|&(step, count)| std::iter::repeat_n(number(step) as i64, count))
                        .collect()
                };
                push_column(&mut group, &column(&|step| step / sizes.steps_per_epoch))?;
                push_column(&mut group, &column(&|step| step % sizes.steps_per_epoch))?;
                let records: Vec<i64> = part.records.iter().map(|&record| record as i64).collect();
                push_column(&mut group, &records)?;
                group.close().map(|_| ()).map_err(io::Error::other)
            }
        }
    }
}

fn rows<'a>(
    out: &'a mut (dyn Write + Send),
    sizes: &PlanSizes,
) -> io::Result<SerializedFileWriter<&'a mut (dyn Write + Send)>> {
    // Half of the bytes where the indices allow it.
    let record = if i32::try_from(sizes.dataset_size).is_ok() { "int32" } else { "int64" };
    let message =
        format!("message plan {{ required int32 epoch; required int64 batch; required {record} record; }}");
    let schema = parse_message_type(&message).map_err(io::Error::other)?;
    let values = [sizes.dataset_size, sizes.steps_per_epoch, sizes.epochs];
    let facts =
        KEYS.iter().zip(values).map(|(key, value)| KeyValue::new((*key).to_owned(), value.to_string()));
    let mut properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_key_value_metadata(Some(facts.collect()))
        .set_column_encoding(ColumnPath::from("record"), Encoding::PLAIN);
    for column in ["epoch", "batch"] {
        properties = properties.set_column_encoding(ColumnPath::from(column), Encoding::DELTA_BINARY_PACKED);
    }
    SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build())).map_err(io::Error::other)
}

fn push_column(
    group: &mut SerializedRowGroupWriter<'_, &mut (dyn Write + Send)>,
    values: &[i64],
) -> io::Result<()> {
    let mut column =
        group.next_column().map_err(io::Error::other)?.ok_or_else(|| io::Error::other("no column"))?;
    let written = match column.untyped() {
        ColumnWriter::Int32ColumnWriter(typed) => {
            let short: Vec<i32> = values.iter().map(|&value| value as i32).collect();
            typed.write_batch(&short, None, None)
        }
        ColumnWriter::Int64ColumnWriter(typed) => typed.write_batch(values, None, None),
        _ => unreachable!("the schema has whole numbers only"),
    };
    written.map_err(io::Error::other)?;
    column.close().map_err(io::Error::other)
}

/// Appends a number in decimal digits.
fn push_number(line: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch_log;

    const SIZES: PlanSizes = PlanSizes { dataset_size: 20, steps_per_epoch: 3, epochs: 3 };

    fn parts() -> [PlanPart; 2] {
        [
            PlanPart { first_step: 0, ends: vec![0, 2, 2, 5, 5], records: vec![7, 19, 0, 3, 4] },
            PlanPart { first_step: 5, ends: vec![1, 1, 3, 3], records: vec![1, 10, 2] },
        ]
    }

    #[test]
    fn plans_are_read_as_logs_with_their_empty_batches() {
        let folder = tempfile::tempdir().unwrap();
        let batches: [&[u32]; 9] = [&[], &[7, 19], &[], &[0, 3, 4], &[], &[1], &[], &[10, 2], &[]];
        for name in ["plan.jsonl", "plan.parquet"] {
            let path = folder.path().join(name);
            write(&path, &SIZES, |writer| parts().iter().try_for_each(|part| writer.write(part))).unwrap();
            let log = batch_log::read(&path).unwrap();
            let found: Vec<(u32, &[u32])> =
                log.iter().map(|(batch, records)| (batch.epoch, records)).collect();
            let expected: Vec<(u32, &[u32])> = (0..9).map(|step| step / 3).zip(batches).collect();
            assert_eq!(found, expected, "{name}");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            }
        }
        let text = std::fs::read_to_string(folder.path().join("plan.jsonl")).unwrap();
        assert!(
            text.starts_with("{\"epoch\": 0, \"batch\": []}\n{\"epoch\": 0, \"batch\": [7, 19]}\n"),
            "{text}"
        );
    }

    #[test]
    fn other_names_and_failures_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["plan", "plan.csv", "plan.npy"] {
            let refused = write(&folder.path().join(name), &SIZES, |_| Ok(())).unwrap_err().to_string();
            assert!(refused.contains(".jsonl or .parquet"), "{refused}");
        }
        for name in ["plan.jsonl", "plan.parquet"] {
            let failed = write(&folder.path().join(name), &SIZES, |writer| {
                writer.write(&parts()[0])?;
                Err(io::Error::other("no more"))
            });
            assert!(failed.unwrap_err().to_string().contains("no more"));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn numbers_have_their_digits() {
        for number in [0, 7, 10, 1_234_567_890, u64::MAX] {
            let mut line = vec![];
            push_number(&mut line, number);
            assert_eq!(String::from_utf8(line).unwrap(), number.to_string());
        }
    }
}
