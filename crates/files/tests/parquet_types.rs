//! Parquet columns are read as the numbers that their types say, or refused.

use misdeal_files::{batch_log, scores};
use parquet::column::writer::ColumnWriter;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::path::Path;
use std::sync::Arc;

/// Writes every column of the schema: integers as they are, whatever they stand for.
fn write(path: &Path, schema: &str, columns: &[Vec<i64>]) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for values in columns {
        let mut column = group.next_column().unwrap().unwrap();
        match column.untyped() {
            ColumnWriter::Int32ColumnWriter(typed) => {
                let values: Vec<i32> = values.iter().map(|&value| value as i32).collect();
                typed.write_batch(&values, None, None).unwrap()
            }
            ColumnWriter::Int64ColumnWriter(typed) => typed.write_batch(values, None, None).unwrap(),
            ColumnWriter::DoubleColumnWriter(typed) => {
                let values: Vec<f64> = values.iter().map(|&value| value as f64).collect();
                typed.write_batch(&values, None, None).unwrap()
            }
            _ => unreachable!("no other type is written here"),
        };
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

fn read_scores(column: &str, values: Vec<i64>) -> Result<Vec<f64>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores.parquet");
    write(&path, &format!("message m {{ {column} }}"), &[values]);
    scores::read(&path).map_err(|error| error.to_string())
}

fn read_log(columns: &[&str], rows: &[&[i64]]) -> Result<Vec<Vec<u32>>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.parquet");
    let columns_of_rows: Vec<Vec<i64>> =
        (0..columns.len()).map(|column| rows.iter().map(|row| row[column]).collect()).collect();
    let fields: Vec<String> = columns.iter().map(|column| format!("required {column};")).collect();
    write(&path, &format!("message m {{ {} }}", fields.join(" ")), &columns_of_rows);
    let log = batch_log::read(&path).map_err(|error| error.to_string())?;
    Ok(log.iter().map(|(_, records)| records.to_vec()).collect())
}

#[test]
fn integers_are_read_with_their_sign() {
    let cases: [(&str, Vec<i64>, &[f64]); 7] = [
        ("required int32 x (UINT_32);", vec![-1, 5], &[4_294_967_295.0, 5.0]),
        ("required int32 x (INTEGER(32,false));", vec![-1], &[4_294_967_295.0]),
        ("required int64 x (UINT_64);", vec![-1, 1], &[18_446_744_073_709_551_615.0, 1.0]),
        ("required int32 x (INT_8);", vec![-128, 127], &[-128.0, 127.0]),
        ("required int32 x (UINT_8);", vec![255], &[255.0]),
        ("required int64 x (INT_64);", vec![-7], &[-7.0]),
        ("required int32 x;", vec![-7], &[-7.0]),
    ];
    for (column, values, expected) in cases {
        assert_eq!(read_scores(column, values).unwrap(), expected, "{column}");
    }
    for (column, value) in [("required int32 x (UINT_8);", 256), ("required int32 x (INT_16);", 40_000)] {
        let refusal = read_scores(column, vec![value]).unwrap_err();
        assert!(refusal.contains("beyond its column's type"), "{refusal}");
    }
}

#[test]
fn what_stands_for_something_else_is_refused() {
    let types = [
        "int32 NAME (DECIMAL(9,2))",
        "int64 NAME (DECIMAL(18,2))",
        "int32 NAME (DATE)",
        "int32 NAME (TIME_MILLIS)",
        "int64 NAME (TIME_MICROS)",
        "int64 NAME (TIMESTAMP_MILLIS)",
        "int64 NAME (TIMESTAMP_MICROS)",
        "int64 NAME (TIMESTAMP(NANOS,false))",
        "int64 NAME (TIME(NANOS,true))",
    ];
    for kind in types {
        let column = format!("required {};", kind.replace("NAME", "score"));
        let refusal = read_scores(&column, vec![1, 2]).unwrap_err();
        assert!(refusal.contains("not numbers"), "{column}: {refusal}");
        let record = kind.replace("NAME", "record");
        let refusal = read_log(&["int64 epoch", "int64 batch", &record], &[&[0, 0, 1]]).unwrap_err();
        assert!(refusal.contains("the column record does not hold integers"), "{kind}: {refusal}");
    }
    // An unsigned record is no negative one.
    let columns = ["int32 epoch (UINT_32)", "int64 batch (UINT_64)", "int32 record (UINT_32)"];
    assert_eq!(read_log(&columns, &[&[0, -1, 3_000_000_000]]).unwrap(), [vec![3_000_000_000]]);
}

#[test]
fn two_columns_of_a_name_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores.parquet");
    write(&path, "message m { required double score; required double Score; }", &[vec![1], vec![2]]);
    let refusal = scores::read(&path).unwrap_err().to_string();
    assert!(refusal.contains("several columns are called score"), "{refusal}");
    for name in ["epoch", "batch", "record", "rank", "worker"] {
        let mut columns =
            ["epoch", "batch", "record", "rank", "worker"].map(|name| format!("int64 {name}")).to_vec();
        columns.push(format!("int64 {}", name.to_uppercase()));
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let refusal = read_log(&columns, &[&[0, 0, 0, 0, 0, 1]]).unwrap_err();
        assert!(refusal.contains(&format!("several columns are called {name}")), "{refusal}");
    }
}

#[test]
fn large_ranks_and_workers_are_refused() {
    let columns = ["int64 epoch", "int64 batch", "int64 record", "int64 rank", "int64 worker"];
    let large = 1_i64 << 32;
    let rows: [(&str, &[i64]); 3] =
        [("epoch", &[large, 0, 0, 0, 0]), ("rank", &[0, 0, 0, large, 0]), ("worker", &[0, 0, 0, 0, large])];
    for (name, row) in rows {
        let refusal = read_log(&columns, &[row]).unwrap_err();
        assert!(refusal.contains(&format!("names the {name} 4294967296")), "{refusal}");
    }
    let unsigned = ["int64 epoch", "int64 batch", "int64 record", "int64 worker (UINT_64)"];
    let refusal = read_log(&unsigned, &[&[0, 0, 0, -1]]).unwrap_err();
    assert!(refusal.contains("names the worker 18446744073709551615"), "{refusal}");
}

#[test]
fn rows_out_of_order_are_refused() {
    let columns = ["int64 epoch", "int64 batch", "int64 record", "int64 worker"];
    let refused: [&[&[i64]]; 4] = [
        // A batch that comes back, batches backwards, workers one after the other though they share the numbers.
        &[&[0, 0, 1, 0], &[0, 1, 2, 0], &[0, 0, 3, 0]],
        &[&[0, 1, 1, 0], &[0, 0, 2, 0]],
        &[&[0, 0, 1, 0], &[0, 2, 2, 0], &[0, 1, 3, 1]],
        &[&[0, 0, 1, 0], &[0, 0, 2, 1], &[0, 0, 3, 0]],
    ];
    for rows in refused {
        let refusal = read_log(&columns, rows).unwrap_err();
        assert!(refusal.contains("sort the rows by epoch"), "{rows:?}: {refusal}");
    }
    let read: [&[&[i64]]; 4] = [
        &[&[0, 0, 1, 0], &[0, 1, 2, 1], &[0, 2, 3, 0]],
        &[&[0, 0, 1, 0], &[0, 0, 2, 1], &[0, 1, 3, 0]],
        &[&[0, 0, 1, 0], &[0, 1, 2, 0], &[0, 0, 3, 1]],
        &[&[1, 0, 1, 0], &[1, 5, 2, 0], &[0, 0, 3, 0]],
    ];
    for rows in read {
        assert_eq!(read_log(&columns, rows).unwrap(), [[1], [2], [3]], "{rows:?}");
    }
}
