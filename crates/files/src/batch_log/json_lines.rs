//! Batch logs in `.jsonl` files, with one batch on each line.

use super::BatchLog;
use crate::{Error, Result};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Limit for a line in bytes: a batch of about ten million records.
const LONGEST_LINE: u64 = 1 << 27;

/// One line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    epoch: u32,
    batch: Vec<Entry>,
    #[serde(default)]
    rank: u32,
    #[serde(default)]
    worker: Option<u32>,
}

/// A record's index; `None` for -1, which fills up a batch.
struct Entry(Option<u64>);

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_u64(Index)
    }
}

struct Index;

impl Visitor<'_> for Index {
    type Value = Entry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record's index, or -1 for no record")
    }

    fn visit_u64<E: de::Error>(self, index: u64) -> std::result::Result<Entry, E> {
        Ok(Entry(Some(index)))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> std::result::Result<Entry, E> {
        let wrong = || E::invalid_value(de::Unexpected::Signed(number), &self);
        if number == -1 {
            Ok(Entry(None))
        } else {
            u64::try_from(number).map(|index| Entry(Some(index))).map_err(|_| wrong())
        }
    }
}

const HINT: &str = "write lines such as {\"epoch\": 0, \"batch\": [17, 3, 42]}, with \"rank\" and \"worker\" where there are \
                    several";

/// Reads batches line by line. `file_length` only limits the buffer.
pub fn read(path: &Path, file: impl Read, file_length: u64) -> Result<BatchLog> {
    let mut input = BufReader::with_capacity(file_length.clamp(1 << 10, 1 << 18) as usize, file);
    let mut log = BatchLog::default();
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let bytes = input.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line);
        if bytes.map_err(|error| Error::io(path, "read", error))? == 0 {
            break;
        }
        if line.len() as u64 > LONGEST_LINE {
            let problem = format!("line {number} is longer than {LONGEST_LINE} bytes");
            return Err(Error::malformed(path, problem, "write one batch on each line"));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let parsed = serde_json::from_slice(&line);
        // A training that was stopped leaves a line without its end.
        if let Err(error) = &parsed
            && error.is_eof()
            && !line.ends_with(b"\n")
            && !log.is_empty()
        {
            log.remarks.push(format!("Line {number}, the last, is cut off; it was left out."));
            break;
        }
        let Line { epoch, batch, rank, worker } = parsed.map_err(|error: serde_json::Error| {
            // Removes the position from the message, because it counts within the line.
            let error = error.to_string();
            let what = error.split(" at line ").next().unwrap_or(&error);
            Error::malformed(path, format!("line {number} is not a batch ({what})"), HINT)
        })?;
        let wrong =
            |problem: String| Error::malformed(path, format!("the batch on line {number} {problem}"), HINT);
        for record in batch.into_iter().filter_map(|Entry(record)| record) {
            log.push_record(record).map_err(wrong)?;
        }
        log.end_batch(epoch, rank, worker);
    }
    Ok(log)
}
