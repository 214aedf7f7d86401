//! Opens files for reading, and refuses everything that is not a regular file.

use crate::{Error, Result};
use std::fs::{File, FileType, Metadata};
use std::path::Path;

/// Opens a regular file and returns the file and its length.
///
/// # Errors
/// The name is empty or too long, does not exist, or is a folder, a named pipe, a device or a socket.
pub fn open(path: &Path) -> Result<(File, u64)> {
    let metadata = looked_at(path)?;
    if !metadata.is_file() {
        return Err(not_a_file(path, metadata.file_type()));
    }
    Ok((File::open(path).map_err(|error| Error::io(path, "read", error))?, metadata.len()))
}

/// Opens a regular file, or the pipe behind `/dev/stdin` or `<(...)`.
///
/// # Errors
/// As for [`open`].
pub fn open_file_or_pipe(path: &Path) -> Result<File> {
    let metadata = looked_at(path)?;
    match descriptor(path) {
        #[cfg(unix)]
        Some(number) if is_pipe(metadata.file_type()) => {
            use std::os::fd::AsFd;
            // Standard input is used directly: opening a named pipe again would wait for another writer.
            let opened = match number {
                0 => std::io::stdin().as_fd().try_clone_to_owned().map(File::from),
                _ => File::open(path),
            };
            opened.map_err(|error| Error::io(path, "read", error))
        }
        _ => Ok(open(path)?.0),
    }
}

fn looked_at(path: &Path) -> Result<Metadata> {
    if path.as_os_str().is_empty() {
        return Err(Error::malformed(path, "the name of a file to read is empty", "give the file's name"));
    }
    // Reads only the metadata. Opening a named pipe without a writer would block.
    std::fs::metadata(path).map_err(|error| Error::io(path, "read", error))
}

fn not_a_file(path: &Path, kind: FileType) -> Error {
    let what = kind_name(kind);
    let hint =
        if kind.is_dir() { "give the name of a file in it" } else { "write what it gives to a file first" };
    Error::malformed(path, format!("it is not a regular file but {what}"), hint)
}

/// A phrase for the kind of a file that is not regular.
#[cfg(unix)]
pub(crate) fn kind_name(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match kind {
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
pub(crate) fn kind_name(kind: FileType) -> &'static str {
    if kind.is_dir() { "a folder" } else { "a device" }
}

#[cfg(unix)]
fn is_pipe(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

/// The file descriptor that `path` names, directly or through links: 1 for `/dev/stdout` and `/proc/self/fd/1`.
pub(crate) fn descriptor(path: &Path) -> Option<u32> {
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let folder = crate::atomic::folder_of(&path).canonicalize().ok()?;
        let name = path.file_name()?.to_owned();
        if folder.ends_with("fd") && (folder.starts_with("/proc") || folder.starts_with("/dev")) {
            return name.to_str()?.parse().ok();
        }
        path = folder.join(std::fs::read_link(folder.join(name)).ok()?);
    }
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        assert!(Command::new("mkfifo").arg(place("pipe")).status().unwrap().success());
        symlink(place("pipe"), place("link")).unwrap();
        let _socket = UnixListener::bind(place("socket")).unwrap();
        let long = "x".repeat(300);
        let cases = [
            (folder.path().to_owned(), "a folder"),
            (place("pipe"), "but a pipe"),
            (place("link"), "but a pipe"),
            (place("socket"), "a socket"),
            ("/dev/zero".into(), "a device"),
            ("/dev/urandom".into(), "a device"),
            (place("none"), "check the path"),
            (place(&long), "shorter name"),
            (place("pipe/"), "check the path"),
            ("".into(), "the name of a file to read is empty"),
        ];
        for (path, words) in cases {
            for error in [open(&path).unwrap_err(), open_file_or_pipe(&path).unwrap_err()] {
                assert!(error.to_string().contains(words), "{error}");
            }
        }
    }

    #[test]
    fn open_files_are_recognised_through_links() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("/dev/stdout", &link).unwrap();
        let found =
            ["/dev/stdin", "/dev/stdout", "/dev/fd/63", "/proc/self/fd/7"].map(Path::new).map(descriptor);
        assert_eq!(found, [Some(0), Some(1), Some(63), Some(7)]);
        assert_eq!(descriptor(&link), Some(1));
        assert_eq!([folder.path(), Path::new("/dev/null"), Path::new("fd/1")].map(descriptor), [None; 3]);
    }
}
