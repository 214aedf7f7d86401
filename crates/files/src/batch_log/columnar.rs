//! Batch logs in `.parquet` files, with a row for each record.

use super::BatchLog;
use crate::guarded::guarded;
use crate::parquet_columns::{self, Number};
use crate::parquet_pages::{self, Ending, MOST_ROWS_PER_BYTE};
use crate::plan::{self, PlanSizes};
use crate::{Error, Result};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::FileMetaData;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;
use std::collections::HashMap;
use std::path::Path;

/// Number of rows read at a time, so that memory does not grow with what a file claims.
const PIECE: usize = 1 << 16;

/// The names of the columns; the last two are optional.
const COLUMNS: [&str; 5] = ["epoch", "batch", "record", "rank", "worker"];
const REQUIRED: usize = 3;
/// The column in which -1 stands for no record.
const RECORD: &str = COLUMNS[2];

const HINT: &str =
    "save the integer columns epoch, batch and record, and rank and worker where there are several";

/// Reads the batches in a file, row group by row group.
pub fn read(path: &Path, file: impl ChunkReader + 'static) -> Result<BatchLog> {
    guarded(path, || read_groups(path, file))
}

fn read_groups(path: &Path, file: impl ChunkReader + 'static) -> Result<BatchLog> {
    let most = file.len().saturating_mul(MOST_ROWS_PER_BYTE);
    let damaged = |error: ParquetError| {
        Error::malformed(path, format!("it is not a sound .parquet file ({error})"), "save it again")
    };
    let reader = SerializedFileReader::new(Ending(file)).map_err(damaged)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let mut places = [None; COLUMNS.len()];
    for (place, name) in places.iter_mut().zip(COLUMNS) {
        *place = parquet_columns::find(path, schema, name)?;
    }
    if let Some(missing) = (0..REQUIRED).find(|&column| places[column].is_none()) {
        return Err(Error::malformed(path, format!("no column is called {}", COLUMNS[missing]), HINT));
    }
    if places.iter().flatten().any(|&place| schema.column(place).max_rep_level() > 0) {
        return Err(Error::malformed(path, "a column holds lists", "save one number in a row"));
    }
    let plan = plan_sizes(reader.metadata().file_metadata(), places);
    let mut rows = Rows {
        path,
        log: BatchLog::default(),
        batches: Vec::new(),
        open: None,
        number: 0,
        plan,
        next_step: 0,
    };
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(damaged)?;
        let mut columns = Vec::new();
        for (name, place) in COLUMNS.into_iter().zip(places) {
            let column = place.map(|place| Integers::open(path, name, &*group, place, schema)).transpose()?;
            columns.push(column);
        }
        loop {
            let mut pieces: [Vec<u64>; 5] = Default::default();
            for (piece, column) in pieces.iter_mut().zip(&mut columns) {
                if let Some(column) = column {
                    column.append(path, piece)?;
                }
            }
            let count = pieces[0].len();
            let present = pieces.iter().zip(&columns).filter(|(_, column)| column.is_some());
            if present.clone().any(|(piece, _)| piece.len() != count) {
                return Err(Error::malformed(path, "its columns differ in length", "save it again"));
            }
            if count == 0 {
                break;
            }
            if rows.number + count as u64 > most {
                let problem = "it claims more rows than a file of its size can hold";
                return Err(Error::malformed(path, problem, "save it again"));
            }
            rows.insert(&pieces)?;
        }
    }
    parquet_pages::check_rows(path, &reader, rows.number)?;
    rows.finish()
}

/// Collects rows into a batch log.
struct Rows<'a> {
    path: &'a Path,
    log: BatchLog,
    /// Epoch, batch, rank and worker of the current batch.
    open: Option<[u64; 4]>,
    /// Epoch, batch, rank and worker of every complete batch.
    batches: Vec<[u64; 4]>,
    number: u64,
    /// The sizes of the plan, if the file is one.
    plan: Option<PlanSizes>,
    /// The next step of the plan.
    next_step: u64,
}

/// Batches without records that a plan may have for each row, so that memory does not grow with what a file claims.
const MOST_EMPTY_PER_ROW: u64 = 64;

/// The sizes in the metadata of a plan that misdeal wrote.
fn plan_sizes(metadata: &FileMetaData, places: [Option<usize>; COLUMNS.len()]) -> Option<PlanSizes> {
    let facts = metadata.key_value_metadata()?;
    let fact = |key: &str| facts.iter().find(|fact| fact.key == key)?.value.as_ref()?.parse().ok();
    let [dataset_size, steps_per_epoch, epochs] = plan::KEYS.map(fact);
    let sizes = PlanSizes { dataset_size: dataset_size?, steps_per_epoch: steps_per_epoch?, epochs: epochs? };
    let steps: u64 = sizes.steps_per_epoch.checked_mul(sizes.epochs)?;
    let most = MOST_EMPTY_PER_ROW.saturating_mul(1024 + u64::try_from(metadata.num_rows()).ok()?);
    let is_plain = places[REQUIRED..].iter().all(Option::is_none);
    (is_plain && (1..=most).contains(&steps) && u32::try_from(sizes.epochs).is_ok()).then_some(sizes)
}

impl Rows<'_> {
    fn insert(&mut self, [epochs, batches, records, ranks, workers]: &[Vec<u64>; 5]) -> Result<()> {
        // A missing worker is stored as u64::MAX.
        let named = |column: &[u64], row: usize, else_: u64| column.get(row).copied().unwrap_or(else_);
        for (row, (&epoch, &batch)) in epochs.iter().zip(batches).enumerate() {
            let key = [epoch, batch, named(ranks, row, 0), named(workers, row, u64::MAX)];
            if self.open.is_some_and(|open| open != key) {
                self.close();
            }
            if self.open.is_none()
                && let Some(plan) = self.plan
            {
                let step = key[0].saturating_mul(plan.steps_per_epoch).saturating_add(key[1]);
                self.fill_to(step);
                self.next_step = step.saturating_add(1).max(self.next_step);
            }
            let wrong = |problem: String| {
                Error::malformed(self.path, format!("row {} (counted from 0) {problem}", self.number), HINT)
            };
            let is_worker_named = !workers.is_empty();
            for (name, number) in [
                ("epoch", Some(key[0])),
                ("rank", Some(key[2])),
                ("worker", is_worker_named.then_some(key[3])),
            ] {
                if let Some(number) = number.filter(|&number| u32::try_from(number).is_err()) {
                    return Err(wrong(format!("names the {name} {number}, but {} is the largest", u32::MAX)));
                }
            }
            // A record of -1 fills up a batch.
            if records[row] != u64::MAX {
                self.log.push_record(records[row]).map_err(wrong)?;
            }
            self.open = Some(key);
            self.number += 1;
        }
        Ok(())
    }

    /// Adds the batches of a plan that have no rows, up to a step.
    fn fill_to(&mut self, step: u64) {
        let Some(plan) = self.plan else { return };
        while self.next_step < step.min(plan.steps_per_epoch * plan.epochs) {
            self.log.end_batch((self.next_step / plan.steps_per_epoch) as u32, 0, None);
            self.next_step += 1;
        }
    }

    fn close(&mut self) {
        if let Some(key @ [epoch, _, rank, worker]) = self.open.take() {
            self.log.end_batch(epoch as u32, rank as u32, u32::try_from(worker).ok());
            self.batches.push(key);
        }
    }

    /// Ends the last batch and returns the log. The batches' numbers must ascend.
    fn finish(mut self) -> Result<BatchLog> {
        self.close();
        self.fill_to(u64::MAX);
        self.log.dataset_size = self.plan.map(|plan| plan.dataset_size);
        // Batches are numbered either per process or per worker. If per worker, numbers repeat within a process.
        let by_rank = falls(&self.batches, |&[epoch, _, rank, _]| [epoch, rank, 0]);
        let by_worker = || falls(&self.batches, |&[epoch, _, rank, worker]| [epoch, rank, worker]);
        let repeats = || {
            let mut numbers: Vec<_> =
                self.batches.iter().map(|&[epoch, batch, rank, _]| [epoch, rank, batch]).collect();
            numbers.sort_unstable();
            numbers.windows(2).any(|pair| pair[0] == pair[1])
        };
        let fall = match by_rank {
            Some(fall) if repeats() => by_worker().map(|_| fall),
            fall => fall,
        };
        match fall {
            None => Ok(self.log),
            Some([epoch, batch, ..]) => {
                let problem =
                    format!("the rows of epoch {epoch} come back to batch {batch} after another one");
                let hint =
                    "sort the rows by epoch, rank and batch, in the order in which the loader gave them";
                Err(Error::malformed(self.path, problem, hint))
            }
        }
    }
}

/// The first batch whose number is not larger than the previous one in the same `stream`.
fn falls(batches: &[[u64; 4]], stream: impl Fn(&[u64; 4]) -> [u64; 3]) -> Option<[u64; 4]> {
    let mut last: HashMap<[u64; 3], u64> = HashMap::new();
    batches.iter().copied().find(|key| last.insert(stream(key), key[1]).is_some_and(|last| last >= key[1]))
}

/// A column of whole numbers, starting at 0.
enum Integers {
    Short(&'static str, Number, ColumnReaderImpl<Int32Type>),
    Long(&'static str, Number, ColumnReaderImpl<Int64Type>),
}

impl Integers {
    fn open(
        path: &Path,
        name: &'static str,
        group: &dyn RowGroupReader,
        place: usize,
        schema: &SchemaDescriptor,
    ) -> Result<Self> {
        let Some(number) = Number::of(&schema.column(place)) else {
            return Err(Error::malformed(path, format!("the column {name} does not hold integers"), HINT));
        };
        let reader = parquet_pages::column(group, place).map_err(|error| {
            Error::malformed(path, format!("it is not a sound .parquet file ({error})"), "save it again")
        })?;
        match reader {
            ColumnReader::Int32ColumnReader(column) => Ok(Self::Short(name, number, column)),
            ColumnReader::Int64ColumnReader(column) => Ok(Self::Long(name, number, column)),
            _ => Err(Error::malformed(path, format!("the column {name} does not hold integers"), HINT)),
        }
    }

    /// Appends up to [`PIECE`] values; appends none at the end of the column.
    fn append(&mut self, path: &Path, values: &mut Vec<u64>) -> Result<()> {
        match self {
            Self::Short(name, number, column) => {
                append(path, name, column, values, |value| number.short(value))
            }
            Self::Long(name, number, column) => {
                append(path, name, column, values, |value| number.long(value))
            }
        }
    }
}

fn append<T: DataType>(
    path: &Path,
    name: &str,
    column: &mut ColumnReaderImpl<T>,
    values: &mut Vec<u64>,
    number: impl Fn(T::T) -> Option<i128>,
) -> Result<()> {
    let mut read = Vec::new();
    let mut definitions = Vec::new();
    // At the end of a page, a call may return fewer values than requested.
    while values.len() < PIECE {
        read.clear();
        definitions.clear();
        let (rows, found, _) = column
            .read_records(PIECE - values.len(), Some(&mut definitions), None, &mut read)
            .map_err(|error| {
                Error::malformed(path, format!("it is cut short or damaged ({error})"), "save it again")
            })?;
        if rows == 0 {
            break;
        }
        if found < rows {
            return Err(Error::malformed(path, format!("a value of the column {name} is missing"), HINT));
        }
        for value in read.drain(..) {
            let found = number(value);
            if name == RECORD && found == Some(-1) {
                values.push(u64::MAX);
                continue;
            }
            let Some(value) = found
                .and_then(|value| u64::try_from(value).ok())
                .filter(|&value| name != RECORD || value < u64::MAX)
            else {
                let problem = format!("a value of the column {name} is below 0 or beyond its type");
                return Err(Error::malformed(path, problem, HINT));
            };
            values.push(value);
        }
    }
    Ok(())
}
