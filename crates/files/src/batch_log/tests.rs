//! The three formats give the same log, and damaged files are refused.

use super::*;
use parquet::column::writer::ColumnWriter;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::sync::Arc;

fn expected() -> BatchLog {
    let mut log = BatchLog::default();
    for (epoch, batch) in
        [(0, vec![4, 0]), (0, vec![2, 1]), (0, vec![3]), (1, vec![1, 2]), (1, vec![0, 4]), (1, vec![3])]
    {
        log.push(epoch, 0, None, batch).unwrap();
    }
    log
}

/// Writes rows of epoch, batch, record and more columns, in row groups of three.
fn write_parquet(path: &Path, columns: &str, rows: &[&[i64]]) {
    let columns: Vec<String> = columns.split(' ').map(|name| format!("required int64 {name};")).collect();
    let schema = Arc::new(parse_message_type(&format!("message log {{ {} }}", columns.join(" "))).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    for piece in rows.chunks(3) {
        let mut group = writer.next_row_group().unwrap();
        let mut place = 0;
        while let Some(mut column) = group.next_column().unwrap() {
            let values: Vec<i64> = piece.iter().map(|row| row[place]).collect();
            let ColumnWriter::Int64ColumnWriter(typed) = column.untyped() else { unreachable!() };
            typed.write_batch(&values, None, None).unwrap();
            column.close().unwrap();
            place += 1;
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn npy(shape: &str, element: &str, values: &[i64]) -> Vec<u8> {
    let header = format!("{{'descr': '{element}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

#[test]
fn the_formats_hold_the_same_log() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let lines: Vec<String> = expected()
        .iter()
        .map(|(batch, records)| format!("{{\"epoch\":{},\"batch\":{records:?}}}\n", batch.epoch))
        .collect();
    std::fs::write(place("log.jsonl"), lines.concat() + "\n").unwrap();
    let values = [4, 0, 2, 1, 3, -1, 1, 2, 0, 4, 3, -1];
    std::fs::write(place("log.npy"), npy("(2, 3, 2)", "<i8", &values)).unwrap();
    let mut rows = Vec::new();
    for (number, (batch, records)) in expected().iter().enumerate() {
        rows.extend(
            records.iter().map(|&record| [i64::from(record), i64::from(batch.epoch), number as i64 % 3]),
        );
    }
    let rows: Vec<&[i64]> = rows.iter().map(|row| &row[..]).collect();
    write_parquet(&place("log.parquet"), "record epoch batch", &rows);
    for name in ["log.jsonl", "log.npy", "log.parquet"] {
        assert_eq!(read(&place(name)).unwrap(), expected(), "{name}");
    }
    assert_eq!(expected().largest_record(), Some(4));
}

/// Loaders with batches of one size fill short ones up with -1.
#[test]
fn fillers_are_no_records_in_any_format() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::fs::write(
        place("log.jsonl"),
        "{\"epoch\": 0, \"batch\": [4, -1]}\n{\"epoch\": 0, \"batch\": [2, 0, -1, -1]}\n",
    )
    .unwrap();
    std::fs::write(place("log.npy"), npy("(1, 2, 3)", "<i8", &[4, -1, -1, 2, 0, -1])).unwrap();
    let rows: [&[i64]; 5] = [&[0, 0, 4], &[0, 0, -1], &[0, 1, 2], &[0, 1, 0], &[0, 1, -1]];
    write_parquet(&place("log.parquet"), "epoch batch record", &rows);
    for name in ["log.jsonl", "log.npy", "log.parquet"] {
        let log = read(&place(name)).unwrap();
        let records: Vec<_> = log.iter().map(|(_, records)| records.to_vec()).collect();
        assert_eq!(records, [vec![4], vec![2, 0]], "{name}");
    }
}

/// A training that was stopped leaves half a line; half a line in the middle is damage.
#[test]
fn a_last_line_that_is_cut_off_is_left_out_with_a_remark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let whole = "{\"epoch\": 0, \"batch\": [4, 0]}\n";
    std::fs::write(&path, format!("{whole}{{\"epoch\": 0, \"bat")).unwrap();
    let log = read(&path).unwrap();
    assert_eq!((log.len(), log.remarks().len()), (1, 1));
    assert!(log.remarks()[0].contains("Line 2"), "{:?}", log.remarks());
    std::fs::write(&path, format!("{{\"epoch\": 0, \"bat\n{whole}")).unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("line 1"));
}

#[test]
fn ranks_and_workers_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::fs::write(
        place("log.ndjson"),
        "{\"rank\": 1, \"epoch\": 7, \"batch\": [5], \"worker\": 3}\n{\"epoch\": 7, \"batch\": []}\n",
    )
    .unwrap();
    let log = read(&place("log.ndjson")).unwrap();
    let seen: Vec<_> =
        log.iter().map(|(batch, records)| (batch.epoch, batch.rank, batch.worker, records.len())).collect();
    assert_eq!(seen, [(7, 1, Some(3), 1), (7, 0, None, 0)]);
    let rows: [&[i64]; 4] = [&[0, 0, 5, 0, 1], &[0, 0, 6, 0, 1], &[0, 0, 7, 1, 1], &[0, 0, 8, 1, 0]];
    write_parquet(&place("log.parquet"), "epoch batch record rank worker", &rows);
    let log = read(&place("log.parquet")).unwrap();
    let seen: Vec<_> =
        log.iter().map(|(batch, records)| (batch.rank, batch.worker, records.to_vec())).collect();
    assert_eq!(seen, [(0, Some(1), vec![5, 6]), (1, Some(1), vec![7]), (1, Some(0), vec![8])]);
}

#[test]
fn what_is_no_log_is_refused_on_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let whole = npy("(1, 2, 2)", "<i8", &[0, 1, 2, 3]);
    let files: [(&str, Vec<u8>, &str); 17] = [
        ("a.txt", b"1".to_vec(), ".jsonl, .npy and .parquet"),
        ("plain", b"1".to_vec(), "no extension"),
        ("a.jsonl", vec![], "empty"),
        ("b.jsonl", b"\n\n".to_vec(), "no records"),
        (
            "c.jsonl",
            b"{\"epoch\": 0, \"batch\": [1]}\n{\"epoch\": 0}\n".to_vec(),
            "line 2 is not a batch (missing field",
        ),
        ("d.jsonl", b"{\"epoch\": 0, \"batch\": [-2]}\n".to_vec(), "line 1"),
        ("e.jsonl", b"{\"epoch\": 0, \"batch\": [1.5]}\n".to_vec(), "line 1"),
        ("f.jsonl", b"{\"epoch\": 0, \"batch\": [4294967295]}\n".to_vec(), "4294967294 is the largest"),
        ("g.jsonl", b"{\"epoch\": 0, \"batch\": [1], \"x\": 1}\n".to_vec(), "unknown field"),
        ("h.jsonl", b"\xff\n".to_vec(), "line 1"),
        ("i.jsonl", b"{\"epoch\": 0, \"batch\": [1".to_vec(), "line 1"),
        ("a.npy", whole[..whole.len() - 1].to_vec(), "not what the file has"),
        ("b.npy", npy("(4,)", "<i8", &[0, 1, 2, 3]), "the shape [4]"),
        ("c.npy", npy("(1, 2, 2)", "<f8", &[0, 1, 2, 3]), "<f8"),
        ("d.npy", npy("(1, 2, 2)", "<i8", &[0, 1, 2, -3]), "holds -3"),
        ("e.npy", npy("(4294967296, 4294967296, 4)", "<i8", &[0]), "not what the file has"),
        ("a.parquet", b"PAR1 nothing of sense PAR1".to_vec(), "not a sound .parquet"),
    ];
    for (name, bytes, words) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let message = read(&path).unwrap_err().to_string();
        assert!(message.contains(words) && message.contains(name) && !message.contains('\n'), "{message}");
    }
    let path = folder.path().join("b.parquet");
    write_parquet(&path, "epoch record", &[&[0, 1]]);
    assert!(read(&path).unwrap_err().to_string().contains("no column is called batch"));
    write_parquet(&path, "epoch batch record", &[&[0, 0, -2]]);
    assert!(read(&path).unwrap_err().to_string().contains("record is below 0"));
    assert!(read(&folder.path().join("none.npy")).unwrap_err().to_string().contains("check the path"));
}
