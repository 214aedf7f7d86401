//! Reads scores of audited models, one finite number each, from `.npy`, `.csv` and `.parquet` files.

mod columnar;
mod comma_separated;
mod members;
mod npy;

pub use members::read_both;
pub use npy::write_npy;

/// The readers, applied to bytes in memory, for fuzzing.
#[cfg(fuzzing)]
pub mod fuzzing {
    pub use super::columnar::read as parquet;
    pub use super::comma_separated::read as csv;
    pub use super::npy::read as npy;
}

use crate::{Error, Result, input};
use std::path::Path;

/// The most scores that a file may hold.
///
/// The scores of two such files, and the thresholds that an estimate tries, take less than 1 GB.
pub const MOST_SCORES: u64 = 30_000_000;

/// Refuses more scores than [`MOST_SCORES`].
fn check_count(path: &Path, scores: u64) -> Result<()> {
    if scores <= MOST_SCORES {
        return Ok(());
    }
    let problem = format!("it holds more than {MOST_SCORES} scores, which are the most that fit into 1 GB");
    let hint = "give a part of them, chosen without a look at the scores; an audit's own store counts any number of scores";
    Err(Error::malformed(path, problem, hint))
}

/// Reads all scores of a file. There is at least one, and all are finite.
///
/// - `.npy`: an array of `float32`, `float64` or integers in either byte order, with at most one dimension longer than 1. Integers
///   beyond 2^53 are rounded to the nearest `f64`, which keeps their order.
/// - `.csv`: one column of numbers, with or without a header line; or several columns, with one called `score` in the header.
///   Blank lines are skipped.
/// - `.parquet`: one column of floats or integers, or several columns, with one called `score`. The file may be plain, or
///   compressed by Snappy, Zstandard, gzip or LZ4. A missing value is refused.
///
/// # Errors
/// The file is missing, empty or damaged, has another extension, holds more than [`MOST_SCORES`], or has a score that is not a finite
/// number. No memory is reserved
/// for what a file only claims to contain.
pub fn read(path: &Path) -> Result<Vec<f64>> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let extension = match extension.as_deref() {
        Some(known @ ("npy" | "csv" | "parquet")) => known,
        other => {
            let problem = match other {
                Some(other) => format!("the extension .{other} is not known"),
                None => "the name has no extension".into(),
            };
            return Err(Error::UnknownFormat { path: path.to_owned(), problem });
        }
    };
    let (file, length) = input::open(path)?;
    if length == 0 {
        return Err(Error::malformed(path, "the file is empty", "save the scores again"));
    }
    let scores = match extension {
        "npy" => npy::read(path, file, length)?,
        "csv" => comma_separated::read(path, file, length)?,
        _ => columnar::read(path, file)?,
    };
    if scores.is_empty() {
        return Err(Error::malformed(path, "it holds no scores", "save at least one"));
    }
    Ok(scores)
}

/// Checks that all scores are finite. `first` is the index of the first of them.
fn check_finite(path: &Path, first: usize, scores: &[f64]) -> Result<()> {
    // The compiler vectorises this, because there is no early exit.
    if scores.iter().fold(true, |finite, score| finite & score.is_finite()) {
        return Ok(());
    }
    let place = scores.iter().position(|score| !score.is_finite()).unwrap_or_default();
    Err(Error::NotFinite { path: path.to_owned(), index: first + place, value: scores[place] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_do_not_fit_into_memory_are_refused_with_the_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.npy");
        let file = std::fs::File::create(&path).unwrap();
        let header = "{'descr': '|i1', 'fortran_order': False, 'shape': (30000001,), }\n";
        let length = (header.len() as u16).to_le_bytes();
        let bytes = [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes()].concat();
        std::io::Write::write_all(&mut &file, &bytes).unwrap();
        // The rest is a hole, which takes no space.
        file.set_len(bytes.len() as u64 + 30_000_001).unwrap();
        let message = read(&path).unwrap_err().to_string();
        assert!(message.contains("more than 30000000 scores"), "{message}");
        assert!(check_count(&path, MOST_SCORES).is_ok());
    }

    #[test]
    fn refuses_what_is_not_a_file_of_scores() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        write("empty.npy", b"");
        write("empty.csv", b"");
        write("empty.parquet", b"");
        write("a.txt", b"1\n");
        write("plain", b"1\n");
        std::fs::create_dir(folder.path().join("folder.npy")).unwrap();
        let cases = [
            ("missing.npy", "check the path"),
            ("missing.csv", "cannot read"),
            ("empty.npy", "empty"),
            ("empty.csv", "empty"),
            ("folder.npy", "not a regular file"),
            ("a.txt", ".txt is not known; scores are read from .npy, .csv and .parquet"),
            ("missing.parquet", "check the path"),
            ("empty.parquet", "empty"),
            ("plain", "no extension"),
        ];
        for (name, expected) in cases {
            let message = read(&folder.path().join(name)).unwrap_err().to_string();
            assert!(message.contains(expected) && message.contains(name), "{message}");
        }
    }
}
