//! Writes files atomically: a file is written completely or not at all.

use crate::input::{descriptor, kind_name};
use crate::stores::check_is_no_store;
use crate::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};
use tempfile::{Builder, NamedTempFile};

/// Writes `path` through `fill`. Readers always see the old file or the complete new one.
///
/// The bytes go to a temporary file in the same folder, which is flushed and renamed. If a step fails, the old file is unchanged
/// and the temporary file is removed. Only a killed process leaves a `.misdeal-*.tmp` behind. An existing file keeps its
/// permissions, and a link keeps its target. Open files (`/dev/stdout`, `/dev/fd/3`) and devices (`/dev/null`) are written to and
/// never replaced.
///
/// # Errors
/// `fill` or the system fails, or `path` is a folder, a named pipe, a disk or a store of scores, which a rename would destroy.
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    match Place::of(path)? {
        Place::File(place) => {
            check_is_no_store(path)?;
            replace(path, &place, None, |out| fill(out))
        }
        Place::Stream(stream) => {
            let failed = |error| Error::io(path, "write", error);
            let mut buffered = BufWriter::with_capacity(1 << 16, stream.open(path).map_err(failed)?);
            match fill(&mut buffered).and_then(|()| buffered.flush()) {
                // The reader of the pipe has stopped reading, which is not an error.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                other => other.map_err(failed),
            }
        }
    }
}

/// Like [`write_atomically`], but only for a regular file.
///
/// # Errors
/// As for [`write_atomically`]; also if `path` is a device or already open.
pub fn write_file_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    replace(path, &file_place(path)?, None, |out| fill(out))
}

/// Like [`write_file_atomically`], for a file that only its owner can read, whatever its permissions were before.
///
/// # Errors
/// As for [`write_file_atomically`], and if `path` is a store of scores.
pub fn write_privately(
    path: &Path,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<()> {
    check_is_no_store(path)?;
    replace(path, &file_place(path)?, owner_only(), fill)
}

/// Permissions for the owner alone, on systems that have them.
#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "other systems have none")]
fn owner_only() -> Option<fs::Permissions> {
    Some(std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

#[cfg(not(unix))]
fn owner_only() -> Option<fs::Permissions> {
    None
}

/// A lock that every write in progress holds for reading.
static WRITING: RwLock<()> = RwLock::new(());

/// Waits for writes in progress and blocks new ones; called before the process exits.
pub fn hold_writes() -> RwLockWriteGuard<'static, ()> {
    WRITING.write().unwrap_or_else(PoisonError::into_inner)
}

/// Replaces a file. It gets `permissions`, else those of the old file, else the default ones.
fn replace(
    path: &Path,
    place: &Path,
    permissions: Option<fs::Permissions>,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<()> {
    let _writing = WRITING.read().unwrap_or_else(PoisonError::into_inner);
    let permissions = permissions.or_else(|| Some(fs::metadata(place).ok()?.permissions()));
    let failed = |error| Error::io(path, "write", error);
    let folder = folder_of(place);
    let file = temporary(&folder, permissions).map_err(failed)?;
    let mut buffered = BufWriter::with_capacity(1 << 20, file);
    fill(&mut buffered).map_err(failed)?;
    let file = buffered.into_inner().map_err(|error| failed(error.into_error()))?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(place).map_err(|error| failed(error.error))?;
    // Flushing the folder makes the rename permanent. Not all systems can do this, and the file is complete anyway.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Checks that `path` can be written, before any work is done.
///
/// # Errors
/// `path` is a folder, a named pipe or a disk, or its folder is missing or not writable.
pub fn check_place(path: &Path) -> Result<()> {
    match Place::of(path)? {
        Place::File(place) => check_file_place(path, &place),
        Place::Stream(_) => Ok(()),
    }
}

/// Resolves the links of a `path` that must be a regular file.
///
/// # Errors
/// As for [`check_place`].
pub(crate) fn file_place(path: &Path) -> Result<PathBuf> {
    match Place::of(path)? {
        Place::File(place) => Ok(place),
        Place::Stream(_) => Err(not_replaceable(path, "it is a device or a stream and not a file")),
    }
}

pub(crate) fn check_file_place(path: &Path, place: &Path) -> Result<()> {
    let failed = |error| Error::io(path, "write", error);
    // Fails, for example, if the name is too long or the folder may not be read.
    match fs::metadata(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    temporary(&folder_of(place), None).map_err(failed)?;
    Ok(())
}

/// The target that a path names for writing.
enum Place {
    /// A new or existing file, after following links.
    File(PathBuf),
    /// A stream or device.
    Stream(Stream),
}

/// A stream or device to write to.
enum Stream {
    StandardOutput,
    StandardError,
    /// An open file descriptor, or a device.
    Named,
}

impl Stream {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Write>> {
        Ok(match self {
            Self::StandardOutput => Box::new(io::stdout()),
            Self::StandardError => Box::new(io::stderr()),
            // Opened for appending, so nothing is truncated.
            Self::Named => Box::new(File::options().append(true).open(path)?),
        })
    }
}

impl Place {
    fn of(path: &Path) -> Result<Self> {
        if path.as_os_str().is_empty() {
            let hint = "give the file's name";
            return Err(Error::malformed(path, "the name of a file to write is empty", hint));
        }
        match descriptor(path) {
            Some(1) => return Ok(Self::Stream(Stream::StandardOutput)),
            Some(2) => return Ok(Self::Stream(Stream::StandardError)),
            Some(_) => return Ok(Self::Stream(Stream::Named)),
            None => {}
        }
        let place = place_of(path);
        match fs::metadata(&place) {
            Ok(metadata) if is_character_device(&metadata) => return Ok(Self::Stream(Stream::Named)),
            Ok(metadata) if !metadata.is_file() => {
                let problem =
                    format!("it is {} and cannot be replaced by a file", kind_name(metadata.file_type()));
                return Err(not_replaceable(path, &problem));
            }
            _ => {}
        }
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(not_replaceable(path, "the name ends in / and is a folder's"));
        }
        if !folder_of(&place).is_dir() {
            let hint = "check the path or make the folder first";
            return Err(Error::malformed(path, "the folder does not exist", hint));
        }
        Ok(Self::File(place))
    }
}

fn not_replaceable(path: &Path, problem: &str) -> Error {
    Error::malformed(path, problem, "choose a file's name, new or existing")
}

#[cfg(unix)]
fn is_character_device(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_char_device(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_character_device(_: &fs::Metadata) -> bool {
    false
}

/// A file of a command, and the field of the request that names it.
pub type Named<'a> = (&'static str, &'a Path);

/// Checks that no written file replaces another file of the command.
///
/// # Errors
/// A written file would replace a file that is read, or one that is written before.
pub fn check_apart(read: &[Named], written: &[Named]) -> misdeal_core::Result<()> {
    for (place, (field, path)) in written.iter().enumerate() {
        // Streams that are already open are appended to, not replaced.
        if matches!(Place::of(path), Ok(Place::Stream(_))) {
            continue;
        }
        let mut others = read.iter().chain(&written[..place]);
        if let Some((other, _)) = others.find(|(_, other)| place_of(path) == place_of(other)) {
            let hint = format!("it would replace the {other}");
            return Err(misdeal_core::Error::bad_value(
                field,
                misdeal_core::path_text(path),
                "a file of its own",
                hint,
            ));
        }
    }
    Ok(())
}

/// Resolves links, so that a link's target is replaced and not the link.
pub(crate) fn place_of(path: &Path) -> PathBuf {
    let in_folder = || Some(fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

pub(crate) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Creates a temporary file with the permissions of the old file, or the default ones.
fn temporary(folder: &Path, permissions: Option<fs::Permissions>) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".misdeal-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn writes_and_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for text in ["first", "second, longer", ""] {
            write_atomically(&path, |out| out.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(names(folder.path()), ["a"]);
        }
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let fail = |out: &mut dyn Write| {
            out.write_all(&vec![7; 3 << 20])?;
            Err(io::Error::other("no more"))
        };
        assert!(write_atomically(&path, fail).unwrap_err().to_string().contains("no more"));
        assert!(names(folder.path()).is_empty());
        fs::write(&path, "old").unwrap();
        assert!(write_atomically(&path, fail).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn a_panic_in_fill_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let outcome = std::panic::catch_unwind(|| write_atomically(&path, |_| panic!("on purpose")));
        assert!(outcome.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn refuses_folders_and_missing_folders() {
        let folder = tempfile::tempdir().unwrap();
        let message = write_atomically(folder.path(), |_| Ok(())).unwrap_err().to_string();
        assert!(message.contains("folder"), "{message}");
        let message = write_atomically(&folder.path().join("b/c"), |_| Ok(())).unwrap_err().to_string();
        assert!(message.contains("b/c") && message.contains("check the path"), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn keeps_permissions_and_links() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["a", "link"].map(|name| folder.path().join(name));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        write_atomically(&link, |out| out.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
