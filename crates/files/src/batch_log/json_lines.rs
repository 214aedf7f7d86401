//! Batch logs in `.jsonl` files, with one batch on each line.

use super::BatchLog;
use crate::{Error, Result};
use serde::Deserialize;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Limit for a line in bytes: a batch of about ten million records.
const LONGEST_LINE: u64 = 1 << 27;

/// One line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    epoch: u32,
    batch: Vec<u64>,
    #[serde(default)]
    rank: u32,
    #[serde(default)]
    worker: Option<u32>,
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
        let Line { epoch, batch, rank, worker } = serde_json::from_slice(&line).map_err(|error| {
            // Removes the position from the message, because it counts within the line.
            let error = error.to_string();
            let what = error.split(" at line ").next().unwrap_or(&error);
            Error::malformed(path, format!("line {number} is not a batch ({what})"), HINT)
        })?;
        log.push(epoch, rank, worker, batch).map_err(|problem| {
            Error::malformed(path, format!("the batch on line {number} {problem}"), HINT)
        })?;
    }
    Ok(log)
}
