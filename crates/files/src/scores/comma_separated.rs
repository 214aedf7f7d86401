//! `.csv` files with one column of scores.

use super::check_finite;
use crate::{Error, Result};
use csv::{ByteRecord, Reader, ReaderBuilder, Trim};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// The column that is chosen where there are several.
const SCORE: &str = "score";

/// The scores in a file; its length bounds the buffer alone, as memory grows with what is read.
pub fn read(path: &Path, file: impl Read, file_length: u64) -> Result<Vec<f64>> {
    // All lines are records here: whether the first is a header is seen from what it holds.
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .buffer_capacity(file_length.clamp(1 << 10, 1 << 18) as usize)
        .from_reader(file);
    let mut record = ByteRecord::new();
    let mut scores = Vec::new();
    if !next(path, &mut reader, &mut record)? {
        return Ok(scores);
    }
    let (layout, is_header) = Layout::from_first(path, &record)?;
    if !is_header {
        scores.push(layout.score(path, &record)?);
    }
    while next(path, &mut reader, &mut record)? {
        scores.push(layout.score(path, &record)?);
    }
    check_finite(path, 0, &scores)?;
    Ok(scores)
}

/// The next record that is not blank; false at the end.
fn next(path: &Path, reader: &mut Reader<impl Read>, record: &mut ByteRecord) -> Result<bool> {
    loop {
        let more = reader.read_byte_record(record).map_err(|error| Error::io(path, "read", error.into()))?;
        if !more || record.len() > 1 || record.get(0).is_some_and(|cell| !cell.is_empty()) {
            return Ok(more);
        }
    }
}

/// Where the scores are.
#[derive(Clone, Copy)]
struct Layout {
    columns: usize,
    column: usize,
}

impl Layout {
    /// From the first line, and whether that is a header.
    fn from_first(path: &Path, first: &ByteRecord) -> Result<(Self, bool)> {
        let columns = first.len();
        let is_header = first.iter().any(is_name);
        if let Some(column) = first.iter().position(|cell| cell.eq_ignore_ascii_case(SCORE.as_bytes())) {
            return Ok((Layout { columns, column }, true));
        }
        if columns == 1 {
            return Ok((Layout { columns, column: 0 }, is_header));
        }
        let problem = format!("it has {columns} columns and none is called {SCORE}");
        Err(Error::malformed(
            path,
            problem,
            format!("begin the file with a header line that names one {SCORE}"),
        ))
    }

    fn score(self, path: &Path, record: &ByteRecord) -> Result<f64> {
        if record.len() != self.columns {
            let line = line_of(path, record);
            let problem = format!("line {line} has {} columns instead of {}", record.len(), self.columns);
            return Err(Error::malformed(path, problem, "give every line the same columns"));
        }
        let cell = &record[self.column];
        number(cell).ok_or_else(|| {
            let line = line_of(path, record);
            let shown: String = String::from_utf8_lossy(cell).chars().take(40).collect();
            let problem = format!("line {line} has {shown:?} where a score should be");
            Error::malformed(path, problem, "write scores as decimal numbers, e.g. -1.25 or 3e-5")
        })
    }
}

/// The line on which `record` begins, counted from 1.
///
/// The record's position is where the one before it ended, so that the ends of line from there on are counted in the
/// file; this happens once, for an error.
fn line_of(path: &Path, record: &ByteRecord) -> u64 {
    let Some(position) = record.position() else { return 0 };
    let skipped = || -> io::Result<u64> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(position.byte()))?;
        let mut blank_lines = 0;
        for byte in BufReader::new(file).bytes() {
            match byte? {
                b'\n' => blank_lines += 1,
                b'\r' => {}
                _ => break,
            }
        }
        Ok(blank_lines)
    };
    position.line() + skipped().unwrap_or_default()
}

fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell).ok()?.parse().ok()
}

/// Whether a cell is the name of a column and not a mistyped number: it begins with a letter or `_`.
fn is_name(cell: &[u8]) -> bool {
    let first = String::from_utf8_lossy(cell).chars().next();
    number(cell).is_none() && first.is_some_and(|c| c.is_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp)]
    use crate::scores::read;

    fn read_text(text: impl AsRef<[u8]>) -> crate::Result<Vec<f64>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.csv");
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn reads_the_usual_forms() {
        let cases: [(&str, &[f64]); 12] = [
            ("1.5\n-2\n3e-5\n", &[1.5, -2.0, 3e-5]),
            ("1.5\r\n2\r\n", &[1.5, 2.0]),
            ("score\n1.5\n2", &[1.5, 2.0]),
            ("loss\n1.5\n2", &[1.5, 2.0]),
            ("\u{feff}score\n1\n", &[1.0]),
            ("\n\n1.5\n\n  \n2\n\n", &[1.5, 2.0]),
            ("score\n\n1.5\n\n2\n", &[1.5, 2.0]),
            (" 1.5 \n\t2\n", &[1.5, 2.0]),
            ("\"1.5\"\n\"2\"\n", &[1.5, 2.0]),
            ("id,score,world\n7,1.5,in\n8,2,out\n", &[1.5, 2.0]),
            ("id, Score\n7,1.5\n", &[1.5]),
            ("+1\n.5\n-0\n", &[1.0, 0.5, -0.0]),
        ];
        for (text, expected) in cases {
            assert_eq!(read_text(text).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn refuses_bad_files() {
        let cases = [
            ("\n\n", "no scores"),
            ("score\n", "no scores"),
            ("1.5\ntwo\n3\n", "line 2 has \"two\""),
            ("score\n1.5\n\n\n1,5\n", "line 5 has 2 columns instead of 1"),
            ("1\r\n2\r\n\r\nx\r\n", "line 4 has \"x\""),
            ("1.5x\n2\n", "line 1 has \"1.5x\""),
            ("1.5\n\"a\nb\"\n", "line 2 has \"a\\nb\""),
            ("score\n1\nscore\n", "line 3 has \"score\""),
            ("1,2\n3,4\n", "2 columns and none is called score"),
            ("a,b\n3,4\n", "2 columns and none is called score"),
            ("id,score\n1,2\n3\n", "line 3 has 1 columns instead of 2"),
            ("id,score\n1,\n", "line 2 has \"\""),
            ("1\nnan\n", "index 1 (counted from 0) is NaN"),
            ("score\n1\n2\n-inf\n", "index 2 (counted from 0) is -inf"),
            ("1\n1e999\n", "index 1 (counted from 0) is inf"),
        ];
        for (text, expected) in cases {
            let message = read_text(text).unwrap_err().to_string();
            assert!(message.contains(expected) && message.contains("scores.csv"), "{text:?}: {message}");
            assert!(!message.contains('\n'), "{text:?}: {message}");
        }
        assert!(read_text(b"1\n\xff\xfe\n").unwrap_err().to_string().contains("line 2"));
    }
}
