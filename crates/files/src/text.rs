//! Reads text files: models, settings and stored results.

use crate::{Error, Result, input};
use std::io::{self, Read};
use std::path::Path;

/// Limit in bytes for a file that a person wrote.
const MOST_BYTES: u64 = 1 << 20;
/// Limit in bytes for a stored result; all of the paper's tables and figures need a few megabytes.
const MOST_RESULT_BYTES: u64 = 1 << 26;

/// Reads a file that a person wrote.
///
/// # Errors
/// The file cannot be read, is larger than a megabyte, or is not UTF-8.
pub fn read(path: &Path) -> Result<String> {
    read_at_most(MOST_BYTES, path, "give a file that a person wrote")
}

/// Reads a stored result.
///
/// # Errors
/// The file cannot be read, is larger than 64 megabytes, or is not UTF-8.
pub fn read_result(path: &Path) -> Result<String> {
    read_at_most(MOST_RESULT_BYTES, path, "give a result that misdeal wrote with --format json")
}

fn read_at_most(most: u64, path: &Path, hint: &str) -> Result<String> {
    let file = input::open_file_or_pipe(path)?;
    let mut text = String::new();
    file.take(most + 1).read_to_string(&mut text).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Error::malformed(path, "it is not text in UTF-8", "save it as UTF-8"),
        _ => Error::io(path, "read", error),
    })?;
    if text.len() as u64 > most {
        let problem = format!("it is longer than {most} bytes");
        return Err(Error::malformed(path, problem, hint));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn reads_text_and_refuses_what_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.toml");
        fs::write(&path, "name = \"é\"").unwrap();
        assert_eq!(read(&path).unwrap(), "name = \"é\"");
        let refusals: [(Vec<u8>, &str); 2] =
            [(vec![0xff, 0xfe, 0], "UTF-8"), (vec![b' '; MOST_BYTES as usize + 1], "longer than")];
        for (bytes, words) in refusals {
            fs::write(&path, bytes).unwrap();
            assert!(read(&path).unwrap_err().to_string().contains(words));
        }
        assert!(read(&folder.path().join("none.toml")).unwrap_err().to_string().contains("check the path"));
    }
}
