//! Files that are whole or absent, whatever interrupts the writing.

use crate::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Writes `path` through `fill`: readers see the old file or the whole new one, at every moment and after a crash.
///
/// The bytes go to a temporary file in the same folder, are flushed to the disk, and the file is renamed. After a failure
/// of any step, that of `fill` included, the old file is as it was and the temporary one is gone; only a killed process
/// leaves a `.misdeal-*.tmp` behind. A file that exists keeps its permissions, and a link keeps pointing to its file.
///
/// # Errors
/// What `fill` or the operating system said; and a `path` that is a folder or a device, which a rename would destroy.
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    check_kind(path)?;
    let place = place_of(path);
    let old = fs::metadata(&place).ok();
    let failed = |error| Error::io(path, "write", error);
    let folder = folder_of(&place);
    let file = temporary(&folder, old.map(|metadata| metadata.permissions())).map_err(failed)?;
    let mut buffered = BufWriter::with_capacity(1 << 20, file);
    fill(&mut buffered).map_err(failed)?;
    let file = buffered.into_inner().map_err(|error| failed(error.into_error()))?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&place).map_err(|error| failed(error.error))?;
    // The rename itself reaches the disk with its folder. Not all systems can do this, and the file is whole anyway.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Refuses, before any work is done, a `path` to which nothing can be written.
///
/// # Errors
/// A `path` that is a folder or a device, which a rename would destroy; whose folder does not exist, or takes no new file.
pub fn check_place(path: &Path) -> Result<()> {
    check_kind(path)?;
    // A name that is too long, a folder that may not be looked into.
    if let Err(error) = fs::metadata(place_of(path))
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(Error::io(path, "write", error));
    }
    temporary(&folder_of(&place_of(path)), None).map_err(|error| Error::io(path, "write", error))?;
    Ok(())
}

/// Refuses a `path` that cannot be a file's.
fn check_kind(path: &Path) -> Result<()> {
    let place = place_of(path);
    if fs::metadata(&place).is_ok_and(|metadata| !metadata.is_file()) {
        let hint = "choose a file's name, new or existing";
        return Err(Error::malformed(
            path,
            "it is a folder or a device and cannot be replaced by a file",
            hint,
        ));
    }
    if !folder_of(&place).is_dir() {
        let hint = "check the path or make the folder first";
        return Err(Error::malformed(path, "the folder does not exist", hint));
    }
    Ok(())
}

/// A file that a command reads or writes, with the field that names it.
pub type Named<'a> = (&'static str, &'a Path);

/// Refuses a file that would replace one that is read, or one that is written before it.
///
/// # Errors
/// Names the file, and what it would replace.
pub fn check_apart(read: &[Named], written: &[Named]) -> misdeal_core::Result<()> {
    for (place, (field, path)) in written.iter().enumerate() {
        let mut others = read.iter().chain(&written[..place]);
        if let Some((other, _)) = others.find(|(_, other)| place_of(path) == place_of(other)) {
            let hint = format!("it would replace the {other}");
            return Err(misdeal_core::Error::bad_value(field, path.display(), "a file of its own", hint));
        }
    }
    Ok(())
}

/// Where `path` leads, through links, so that the file they lead to is replaced and not they.
fn place_of(path: &Path) -> PathBuf {
    let in_folder = || Some(fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A temporary file with the permissions of the old one, or those of any new file.
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
