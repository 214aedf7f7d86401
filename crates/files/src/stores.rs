//! Score stores on disk.

use crate::atomic::write_atomically;
use crate::{Error, Result};
use misdeal_core::{ReadError, ScoreStore};
use std::fs::File;
use std::path::Path;

/// Reads a whole store and checks its seal.
///
/// # Errors
/// A file that cannot be read, is not a store, has another version, is cut short or altered.
pub fn read(path: &Path) -> Result<ScoreStore> {
    let mut file = File::open(path).map_err(|error| Error::io(path, "open", error))?;
    ScoreStore::read_from(&mut file).map_err(|error| match error {
        ReadError::Io(error) => Error::io(path, "read", error),
        ReadError::Refused(error) => Error::malformed(
            path,
            error.to_string(),
            "play it again under another name, or bring back a whole copy",
        ),
    })
}

/// Writes a store, whole or not at all.
///
/// # Errors
/// What the operating system said; the file that was there stays.
pub fn write(path: &Path, store: &ScoreStore) -> Result<()> {
    write_atomically(path, |sink| store.write_to(sink))
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::{Setting, StoreKind};

    #[test]
    fn a_store_survives_the_disk_and_a_damaged_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.store");
        let mut store = ScoreStore::new(Setting::default(), "cpu", "stream", StoreKind::Counts).unwrap();
        store.insert(0..4, &[1.0, 2.0, -1.0, 0.5], &[-3.0, 0.0, 0.25, 1e-3]).unwrap();
        write(&path, &store).unwrap();
        let back = read(&path).unwrap();
        assert_eq!(back.to_bytes(), store.to_bytes());

        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("run.store"));
        std::fs::write(&path, b"").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("not a misdeal store"));
        assert!(read(&folder.path().join("absent")).is_err());
    }
}
