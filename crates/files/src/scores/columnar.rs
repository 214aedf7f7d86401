//! Scores in `.parquet` files with a column of scores.

use super::{check_count, check_finite};
use crate::guarded::guarded;
use crate::parquet_columns::{self, Number};
use crate::parquet_pages::{self, Ending, MOST_ROWS_PER_BYTE};
use crate::{Error, Result};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use std::path::Path;

/// The name of the column to read if there are several columns.
const SCORE: &str = "score";
/// Number of values read at a time, so that memory does not grow with what a file claims.
const BATCH: usize = 1 << 16;

/// Reads the scores in a file, row group by row group.
pub fn read(path: &Path, file: impl ChunkReader + 'static) -> Result<Vec<f64>> {
    guarded(path, || read_groups(path, file))
}

fn read_groups(path: &Path, file: impl ChunkReader + 'static) -> Result<Vec<f64>> {
    let file_length = file.len();
    let reader = SerializedFileReader::new(Ending(file)).map_err(|error| damaged(path, &error))?;
    let column = column(path, &reader)?;
    let most = file_length.saturating_mul(MOST_ROWS_PER_BYTE);
    let scores = numbers(path, &reader, column, most)?;
    parquet_pages::check_rows(path, &reader, scores.len() as u64)?;
    Ok(scores)
}

/// Whether each row has the target, and its score, from two columns that are named.
pub fn read_both(
    path: &Path,
    file: impl ChunkReader + 'static,
    names: [&str; 2],
) -> Result<(Vec<bool>, Vec<f64>)> {
    guarded(path, || {
        let most = file.len().saturating_mul(MOST_ROWS_PER_BYTE);
        let reader = SerializedFileReader::new(Ending(file)).map_err(|error| damaged(path, &error))?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let place = |name: &str| {
            parquet_columns::find(path, schema, name)?.ok_or_else(|| {
                let columns = schema.num_columns();
                super::members::no_column(path, name, columns)
            })
        };
        let [members, scores] = [place(names[0])?, place(names[1])?];
        let members = flags(path, &reader, members, most)?;
        let scores = numbers(path, &reader, scores, most)?;
        for rows in [members.len(), scores.len()] {
            parquet_pages::check_rows(path, &reader, rows as u64)?;
        }
        Ok((members, scores))
    })
}

fn damaged(path: &Path, error: &ParquetError) -> Error {
    Error::malformed(path, format!("it is not a sound .parquet file ({error})"), "save it again")
}

/// The numbers of a column, all finite.
fn numbers(path: &Path, reader: &dyn FileReader, column: usize, most: u64) -> Result<Vec<f64>> {
    let descriptor = reader.metadata().file_metadata().schema_descr().column(column);
    if descriptor.max_rep_level() > 0 {
        return Err(Error::malformed(path, "its scores are lists", "save one number in a row"));
    }
    let number = Number::of(&descriptor).ok_or_else(|| not_numbers(path))?;
    let mut scores = Vec::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(|error| damaged(path, &error))?;
        let first = scores.len();
        match parquet_pages::column(&*group, column).map_err(|error| damaged(path, &error))? {
            ColumnReader::DoubleColumnReader(column) => {
                append::<DoubleType, _>(path, column, &mut scores, most, |&value| Some(value))?;
            }
            ColumnReader::FloatColumnReader(column) => {
                append::<FloatType, _>(path, column, &mut scores, most, |&value| Some(f64::from(value)))?;
            }
            ColumnReader::Int32ColumnReader(column) => {
                let number = |&value: &i32| number.short(value).map(|value| value as f64);
                append::<Int32Type, _>(path, column, &mut scores, most, number)?;
            }
            ColumnReader::Int64ColumnReader(column) => {
                let number = |&value: &i64| number.long(value).map(|value| value as f64);
                append::<Int64Type, _>(path, column, &mut scores, most, number)?;
            }
            _ => return Err(not_numbers(path)),
        }
        check_finite(path, first, &scores[first..])?;
    }
    Ok(scores)
}

/// The values of a column that are true or false, in numbers, words or truth values.
fn flags(path: &Path, reader: &dyn FileReader, column: usize, most: u64) -> Result<Vec<bool>> {
    let mut members = Vec::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(|error| damaged(path, &error))?;
        match parquet_pages::column(&*group, column).map_err(|error| damaged(path, &error))? {
            ColumnReader::BoolColumnReader(column) => {
                append::<BoolType, _>(path, column, &mut members, most, |&value| Some(value))?;
            }
            ColumnReader::Int32ColumnReader(column) => {
                append::<Int32Type, _>(path, column, &mut members, most, |&value| {
                    one_or_zero(f64::from(value))
                })?;
            }
            ColumnReader::Int64ColumnReader(column) => {
                append::<Int64Type, _>(path, column, &mut members, most, |&value| one_or_zero(value as f64))?;
            }
            ColumnReader::DoubleColumnReader(column) => {
                append::<DoubleType, _>(path, column, &mut members, most, |&value| one_or_zero(value))?;
            }
            ColumnReader::FloatColumnReader(column) => {
                append::<FloatType, _>(path, column, &mut members, most, |&value| {
                    one_or_zero(f64::from(value))
                })?;
            }
            ColumnReader::ByteArrayColumnReader(column) => {
                let flag = |value: &ByteArray| super::members::flag(value.data());
                append::<ByteArrayType, _>(path, column, &mut members, most, flag)?;
            }
            _ => return Err(super::members::not_flags(path)),
        }
    }
    Ok(members)
}

fn one_or_zero(value: f64) -> Option<bool> {
    if value == 1.0 {
        Some(true)
    } else if value == 0.0 {
        Some(false)
    } else {
        None
    }
}

fn not_numbers(path: &Path) -> Error {
    Error::malformed(path, "its scores are not numbers", "save them as 32 or 64-bit floats or integers")
}

/// The only column or the one called `score`.
fn column(path: &Path, reader: &dyn FileReader) -> Result<usize> {
    let schema = reader.metadata().file_metadata().schema_descr();
    match (parquet_columns::find(path, schema, SCORE)?, schema.num_columns()) {
        (Some(index), _) => Ok(index),
        (None, 1) => Ok(0),
        (None, columns) => {
            let problem = format!("it has {columns} columns and none is called {SCORE}");
            Err(Error::malformed(path, problem, format!("name one {SCORE}")))
        }
    }
}

/// Appends the values of a row group; a missing value is an error.
fn append<T: DataType, V>(
    path: &Path,
    mut column: ColumnReaderImpl<T>,
    found: &mut Vec<V>,
    most: u64,
    read: impl Fn(&T::T) -> Option<V>,
) -> Result<()> {
    let mut values = Vec::new();
    let mut definitions = Vec::new();
    loop {
        values.clear();
        definitions.clear();
        let (rows, present, _) =
            column.read_records(BATCH, Some(&mut definitions), None, &mut values).map_err(|error| {
                Error::malformed(path, format!("it is cut short or damaged ({error})"), "save it again")
            })?;
        if rows == 0 {
            return Ok(());
        }
        if present < rows {
            let row = found.len() + definitions.iter().position(|&level| level == 0).unwrap_or_default();
            let problem = format!("the value in row {row} (counted from 0) is missing");
            return Err(Error::malformed(path, problem, "leave out such rows"));
        }
        if (found.len() + rows) as u64 > most {
            let problem = "it claims more rows than a file of its size can hold";
            return Err(Error::malformed(path, problem, "save it again"));
        }
        check_count(path, (found.len() + rows) as u64)?;
        for value in values.drain(..) {
            let Some(one) = read(&value) else {
                let row = found.len();
                let problem = format!(
                    "the value in row {row} (counted from 0) is beyond its column's type, or does not say who is a member"
                );
                let hint = "save scores as 64-bit floats, and members as 1 or 0, true or false, yes or no";
                return Err(Error::malformed(path, problem, hint));
            };
            found.push(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scores::read;
    use parquet::column::writer::ColumnWriter;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::path::Path;
    use std::sync::Arc;

    /// Writes one row group for each piece. All columns hold the same numbers, in the schema's types.
    fn write(path: &Path, schema: &str, pieces: &[&[f64]], present: Option<&[i16]>) {
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = Arc::new(
            WriterProperties::builder().set_compression(parquet::basic::Compression::SNAPPY).build(),
        );
        let mut writer =
            SerializedFileWriter::new(std::fs::File::create(path).unwrap(), schema, properties).unwrap();
        for piece in pieces {
            let mut group = writer.next_row_group().unwrap();
            while let Some(mut column) = group.next_column().unwrap() {
                match column.untyped() {
                    ColumnWriter::DoubleColumnWriter(typed) => {
                        typed.write_batch(piece, present, None).unwrap()
                    }
                    ColumnWriter::FloatColumnWriter(typed) => {
                        let piece: Vec<f32> = piece.iter().map(|&score| score as f32).collect();
                        typed.write_batch(&piece, present, None).unwrap()
                    }
                    ColumnWriter::Int64ColumnWriter(typed) => {
                        let piece: Vec<i64> = piece.iter().map(|&score| 100 + score as i64).collect();
                        typed.write_batch(&piece, present, None).unwrap()
                    }
                    _ => unreachable!("no other type is written here"),
                };
                column.close().unwrap();
            }
            group.close().unwrap();
        }
        writer.close().unwrap();
    }

    #[test]
    fn reads_the_usual_forms() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.parquet");
        let many: Vec<f64> = (0..150_000).map(|i| f64::from(i) * 0.25).collect();
        write(&path, "message m { required double x; }", &[&[1.5, -2.0], &many, &[7.0]], None);
        assert_eq!(read(&path).unwrap(), [&[1.5, -2.0][..], &many, &[7.0]].concat());
        write(&path, "message m { required int64 id; optional float Score; }", &[&[1.5, 3.0]], Some(&[1, 1]));
        assert_eq!(read(&path).unwrap(), [1.5, 3.0]);
        write(&path, "message m { required int64 id; }", &[&[1.0, 3.0]], None);
        assert_eq!(read(&path).unwrap(), [101.0, 103.0]);
    }

    #[test]
    fn refuses_bad_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.parquet");
        let refused = |expected: &str| {
            let message = read(&path).unwrap_err().to_string();
            assert!(message.contains(expected) && message.contains("scores.parquet"), "{message}");
            assert!(!message.contains('\n'), "{message}");
        };
        std::fs::write(&path, b"PAR1 and then nothing that makes sense PAR1").unwrap();
        refused("not a sound .parquet file");
        write(&path, "message m { required double a; required double b; }", &[&[1.0]], None);
        refused("2 columns and none is called score");
        write(&path, "message m { required double x; }", &[&[1.0, 2.0], &[3.0, f64::NAN]], None);
        refused("index 3 (counted from 0) is NaN");
        write(&path, "message m { optional double x; }", &[&[1.0, 2.0]], Some(&[1, 0, 1]));
        refused("the value in row 1 (counted from 0) is missing");
        write(&path, "message m { required double x; }", &[], None);
        refused("no scores");
        write(&path, "message m { required int64 x (TIMESTAMP(MILLIS,true)); }", &[&[1.0]], None);
        refused("not numbers");
        let whole = {
            write(&path, "message m { required double x; }", &[&vec![1.25; 5000]], None);
            std::fs::read(&path).unwrap()
        };
        for length in [whole.len() - 1, whole.len() / 2, 5] {
            std::fs::write(&path, &whole[..length]).unwrap();
            refused("not a sound .parquet file");
        }
    }
}
