//! Small text files that a user writes: models.

use crate::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The largest file that is read: a description that a person wrote is far smaller.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a file.
///
/// # Errors
/// A file that cannot be read, is larger than a megabyte, or is not UTF-8.
pub fn read(path: &Path) -> Result<String> {
    let file = File::open(path).map_err(|error| Error::io(path, "open", error))?;
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Error::malformed(path, "it is not text in UTF-8", "save it as UTF-8"),
        _ => Error::io(path, "read", error),
    })?;
    if text.len() as u64 > MOST_BYTES {
        let problem = format!("it is longer than {MOST_BYTES} bytes");
        return Err(Error::malformed(path, problem, "give a file that a person wrote"));
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
