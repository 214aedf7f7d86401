//! Scores in `.csv` files with one column of scores.

use super::{check_count, check_finite};
use crate::{Error, Result};
use csv::{ByteRecord, Reader, ReaderBuilder};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// The name of the column to read if there are several columns.
const SCORE: &str = "score";
/// Limit for a line in bytes.
const LONGEST_LINE: usize = 1 << 20;

/// Reads scores. `file_length` only limits the buffer.
pub fn read(path: &Path, file: impl Read, file_length: u64) -> Result<Vec<f64>> {
    let mut reader = lines(file, file_length);
    let mut record = ByteRecord::new();
    let mut scores = Vec::new();
    if !next(path, &mut reader, &mut record)? {
        return Ok(scores);
    }
    let (layout, is_header) = ScoreColumn::from_first(path, &record)?;
    if !is_header {
        scores.push(layout.score(path, &record)?);
    }
    while next(path, &mut reader, &mut record)? {
        scores.push(layout.score(path, &record)?);
        check_count(path, scores.len() as u64)?;
    }
    check_finite(path, 0, &scores)?;
    Ok(scores)
}

/// All lines as records: whether the first is a header is seen from what it holds.
pub(super) fn lines<R: Read>(file: R, file_length: u64) -> Reader<Lines<R>> {
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(file_length.clamp(1 << 10, 1 << 18) as usize)
        .from_reader(Lines { file, length: 0 })
}

/// A reader that fails on lines longer than [`LONGEST_LINE`].
pub(super) struct Lines<R> {
    file: R,
    length: usize,
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        for line in buffer[..count].split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            self.length += line.len();
            if self.length > LONGEST_LINE + 1 {
                return Err(io::Error::other(format!("a line is longer than {LONGEST_LINE} bytes")));
            }
            if line.ends_with(b"\n") || line.ends_with(b"\r") {
                self.length = 0;
            }
        }
        Ok(count)
    }
}

/// Reads the next record that is not blank; returns `false` at the end.
///
/// A cell with a line break is an error, because an unclosed quote would hide the scores after it. An empty cell in quotes is a
/// missing score.
pub(super) fn next(path: &Path, reader: &mut Reader<impl Read>, record: &mut ByteRecord) -> Result<bool> {
    loop {
        let more = reader.read_byte_record(record).map_err(|error| {
            let error = io::Error::from(error);
            if error.kind() == io::ErrorKind::Other {
                return Error::malformed(path, error.to_string(), "write one score on each line");
            }
            Error::io(path, "read", error)
        })?;
        if record.iter().any(|cell| cell.iter().any(|byte| matches!(byte, b'\n' | b'\r'))) {
            let problem =
                format!("a cell that begins on line {} has a line break in it", line_of(path, record));
            return Err(Error::malformed(path, problem, "close every quote on its line"));
        }
        let is_blank = record.len() == 1 && !record[0].is_empty() && record[0].trim_ascii().is_empty();
        if !more || !is_blank {
            return Ok(more);
        }
    }
}

/// The number of columns, and the index of the column with scores.
#[derive(Clone, Copy)]
struct ScoreColumn {
    columns: usize,
    column: usize,
}

impl ScoreColumn {
    /// Finds the column of scores from the first line, and whether that line is a header.
    fn from_first(path: &Path, first: &ByteRecord) -> Result<(Self, bool)> {
        let columns = first.len();
        let is_header = first.iter().any(is_name);
        let is_score = |cell: &[u8]| cell.trim_ascii().eq_ignore_ascii_case(SCORE.as_bytes());
        if let Some(column) = first.iter().position(is_score) {
            if first.iter().skip(column + 1).any(is_score) {
                let problem = format!("several columns are called {SCORE}");
                return Err(Error::malformed(path, problem, "name only one of them so"));
            }
            return Ok((ScoreColumn { columns, column }, true));
        }
        if columns == 1 {
            return Ok((ScoreColumn { columns, column: 0 }, is_header));
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
        let cell = record[self.column].trim_ascii();
        number(cell).ok_or_else(|| {
            let line = line_of(path, record);
            let shown: String = String::from_utf8_lossy(cell).chars().take(40).collect();
            let problem = format!("line {line} has {shown:?} where a score should be");
            Error::malformed(path, problem, "write scores as decimal numbers, e.g. -1.25 or 3e-5")
        })
    }
}

/// The line number of `record`, from 1.
///
/// A record's position is the end of the previous record, so the line breaks after that position are counted. This happens only
/// once, for an error.
pub(super) fn line_of(path: &Path, record: &ByteRecord) -> u64 {
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

pub(super) fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell.trim_ascii()).ok()?.parse().ok()
}

/// Whether a cell is the name of a column: it begins with a letter or `_`.
fn is_name(cell: &[u8]) -> bool {
    let first = String::from_utf8_lossy(cell.trim_ascii()).chars().next();
    number(cell).is_none() && first.is_some_and(|c| c.is_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp)]
    use super::LONGEST_LINE;
    use crate::scores::read;

    fn read_text(text: impl AsRef<[u8]>) -> crate::Result<Vec<f64>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.csv");
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn reads_the_usual_forms() {
        let cases: [(&str, &[f64]); 14] = [
            ("1.5\r2\r3", &[1.5, 2.0, 3.0]),
            ("\u{feff}\"score\",note\n1,\"a,b\"\n", &[1.0]),
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
            ("1.5\n\"a\nb\"\n", "a cell that begins on line 2 has a line break"),
            ("\"score\nof a run\"\n1\n", "on line 1 has a line break"),
            ("\"score\n1\n2\n\"\n3\n", "on line 1 has a line break"),
            ("score,note\n1,\"a\n2,b\n3,c\n", "on line 2 has a line break"),
            ("1\n\"2\n\"\n", "on line 2 has a line break"),
            ("1\n\"\"\n3\n", "line 2 has \"\""),
            ("score,Score\n1,2\n", "several columns are called score"),
            ("score, score \n1,2\n", "several columns are called score"),
            ("1,5\n2,5\n", "2 columns and none is called score"),
            ("score\n\"1,5\"\n", "line 2 has \"1,5\""),
            ("1_000\n", "line 1 has \"1_000\""),
            ("1\n0x10\n", "line 2 has \"0x10\""),
            ("1\r2\rx\r", "has \"x\""),
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
        let commas = read_text(",".repeat(LONGEST_LINE + 10)).unwrap_err().to_string();
        assert!(commas.contains("a line is longer than 1048576 bytes"), "{commas}");
        assert!(read_text(b"1\n\xff\xfe\n").unwrap_err().to_string().contains("line 2"));
    }
}
