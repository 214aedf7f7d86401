//! Score stores on disk, written by one process at a time.

use crate::atomic::{check_file_place, file_place, folder_of, write_file_atomically};
use crate::{Error, Result, input};
use misdeal_core::{ReadError, STORE_START, ScoreStore};
use std::collections::hash_map::DefaultHasher;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::hash::{Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Reads a whole store and checks its checksum.
///
/// # Errors
/// The file cannot be read, is not a store, has another version, or is damaged.
pub fn read(path: &Path) -> Result<ScoreStore> {
    let mut file = input::open_file_or_pipe(path)?;
    ScoreStore::read_from(&mut file).map_err(|error| match error {
        ReadError::Io(error) => Error::io(path, "read", error),
        ReadError::Refused(error) => Error::malformed(
            path,
            error.to_string(),
            "play it again under another name, or bring back a whole copy",
        ),
    })
}

/// Writes a store completely or not at all.
///
/// # Errors
/// Another process has claimed the store, or the system fails. The old file stays.
pub fn write(path: &Path, store: &ScoreStore) -> Result<()> {
    Claim::on(path)?.write(store)
}

/// Refuses a place for results where a store is, or where another process is about to write one.
///
/// # Errors
/// The file at `path` is a store, or another process has claimed it.
pub fn check_is_no_store(path: &Path) -> Result<()> {
    // Streams and devices are never replaced.
    let Ok(place) = file_place(path) else { return Ok(()) };
    let lock = File::open(lock_of(&place));
    if lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))) {
        return Err(Error::InUse { path: path.to_owned() });
    }
    let mut start = STORE_START.map(|_| 0);
    let read = File::open(place).and_then(|mut file| file.read_exact(&mut start));
    if read.is_ok() && start == STORE_START {
        let problem = "it is a store of scores, which a result would replace";
        return Err(Error::malformed(path, problem, "choose another name, or remove it first"));
    }
    Ok(())
}

/// A lock on a store, which one process holds at a time.
///
/// The lock is on a file beside the store, because writing replaces the store itself. The system releases it when the process
/// ends, so the lock file of a killed process blocks nobody. Some network disks have no locks; on them, a claim does not protect
/// the store.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    lock: Option<(File, PathBuf)>,
}

impl Claim {
    /// Claims the store at `path`, which need not exist yet.
    ///
    /// # Errors
    /// [`Error::InUse`] if another process has claimed it; another error if `path` cannot be written.
    pub fn on(path: &Path) -> Result<Self> {
        let place = file_place(path)?;
        let file = lock_of(&place);
        let lock = match locked(&file) {
            Ok(lock) => lock.map(|lock| (lock, file)),
            Err(TryLockError::WouldBlock) => return Err(Error::InUse { path: path.to_owned() }),
            // An existing store can be claimed on a read-only disk, so that a finished run can be read again.
            Err(TryLockError::Error(_)) if place.is_file() => None,
            Err(TryLockError::Error(error)) => return Err(Error::io(path, "write", error)),
        };
        let claim = Claim { path: path.to_owned(), lock };
        if !place.is_file() {
            check_file_place(path, &place)?;
        }
        Ok(claim)
    }

    /// Writes the store completely or not at all.
    ///
    /// # Errors
    /// The system fails. The old file stays.
    pub fn write(&self, store: &ScoreStore) -> Result<()> {
        write_file_atomically(&self.path, |sink| store.write_to(sink))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some((lock, file)) = self.lock.take() {
            // Removed while locked: a process that opened the file before sees that it is gone and tries again.
            let _ = fs::remove_file(file);
            let _ = lock.unlock();
        }
    }
}

/// Creates and locks a file; `None` if the disk has no locks.
fn locked(file: &Path) -> std::result::Result<Option<File>, TryLockError> {
    loop {
        let made = File::options().read(true).write(true).create(true).truncate(false).open(file);
        // Another user's leftover lock file may be read-only, but it can still be locked.
        let lock = made.or_else(|error| File::open(file).map_err(|_| error)).map_err(TryLockError::Error)?;
        match lock.try_lock() {
            Ok(()) if is_at(&lock, file).map_err(TryLockError::Error)? => return Ok(Some(lock)),
            // The owner removed the file in between; try again.
            Ok(()) => {}
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                let _ = fs::remove_file(file);
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Whether `path` still names this open file.
#[cfg(unix)]
fn is_at(open: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let open = open.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((open.dev(), open.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// On other systems, an open file cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// The lock file of the store at `place`.
fn lock_of(place: &Path) -> PathBuf {
    folder_of(place).join(lock_name(place.file_name().unwrap_or_default()))
}

/// The name of the lock file: the store's name, or its hash if the name is long.
fn lock_name(store: &OsStr) -> OsString {
    const LONGEST: usize = 200;
    let mut name = OsString::from(".misdeal-");
    if store.len() <= LONGEST {
        name.push(store);
    } else {
        let mut hasher = DefaultHasher::new();
        store.hash(&mut hasher);
        name.push(format!("{:016x}", hasher.finish()));
    }
    name.push(".lock");
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomic::write_atomically;
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

        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("run.store"));
        fs::write(&path, b"").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("not a misdeal store"));
        assert!(read(&folder.path().join("absent")).is_err());
    }

    #[test]
    fn a_store_has_one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let store = ScoreStore::new(Setting::default(), "cpu", "stream", StoreKind::Counts).unwrap();
        let names = || fs::read_dir(folder.path()).unwrap().count();
        for name in ["run.store", &"x".repeat(255)] {
            let path = folder.path().join(name);
            let claim = Claim::on(&path).unwrap();
            let refused = [write(&path, &store).unwrap_err(), Claim::on(&path).unwrap_err()];
            assert!(refused.iter().all(|error| error.to_string().contains("in use")), "{refused:?}");
            claim.write(&store).unwrap();
            // The store was replaced, but the claim is still held.
            assert!(matches!(Claim::on(&path), Err(Error::InUse { .. })));
            drop(claim);
            write(&path, &store).unwrap();
            assert_eq!(names(), 1, "the lock was left behind");
            fs::remove_file(&path).unwrap();
        }
        // A lock file that a killed process left behind.
        let path = folder.path().join("run.store");
        fs::write(folder.path().join(".misdeal-run.store.lock"), "").unwrap();
        write(&path, &store).unwrap();
        assert_eq!(names(), 1);
    }

    #[test]
    fn a_result_does_not_replace_a_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.store");
        let write_result = || write_atomically(&path, |sink| sink.write_all(b"{}"));
        let store = ScoreStore::new(Setting::default(), "cpu", "stream", StoreKind::Counts).unwrap();
        let claim = Claim::on(&path).unwrap();
        // Not written yet, but another process has it.
        assert!(write_result().unwrap_err().to_string().contains("in use"));
        claim.write(&store).unwrap();
        drop(claim);
        assert!(write_result().unwrap_err().to_string().contains("it is a store of scores"));
        assert_eq!(read(&path).unwrap(), store);
        fs::write(&path, "an older result").unwrap();
        write_result().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"{}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_store_is_the_same_store() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["run.store", "link"].map(|name| folder.path().join(name));
        fs::write(&path, "").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let _claim = Claim::on(&link).unwrap();
        assert!(matches!(Claim::on(&path), Err(Error::InUse { .. })));
        assert!(Claim::on(Path::new("/dev/stdout")).unwrap_err().to_string().contains("not a file"));
    }
}
