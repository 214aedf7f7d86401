//! Finds the files to scan: named files, and all Python sources and notebooks in named folders.

use crate::error::Error;
use crate::settings::Settings;
use ignore::WalkBuilder;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The files to scan for some paths, each once, in order.
///
/// Hidden files and files ignored by git are left out unless they are named.
pub fn find(paths: &[PathBuf], settings: &Settings) -> Result<Vec<PathBuf>, Error> {
    let excluded = settings.excluded()?;
    let folder = std::path::absolute(Path::new(".").join(&settings.folder)).unwrap_or_default();
    let is_excluded = |path: &Path| {
        if excluded.is_empty() {
            return false;
        }
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let relative = absolute.strip_prefix(&folder).unwrap_or(&absolute);
        excluded.is_match(relative)
    };
    let mut files = Vec::new();
    for path in paths {
        match path.metadata() {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(Error::NoSuchPath(path.clone())),
            Err(error) => {
                let reason = error.to_string();
                return Err(Error::BadPath { path: path.clone(), reason });
            }
        }
        // A path that is neither a file nor a folder is refused when it is read.
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        // Folders that cannot be listed are skipped.
        let entries = WalkBuilder::new(path).require_git(false).build().flatten();
        let sources = entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        files.extend(sources.map(ignore::DirEntry::into_path).filter(|path| is_source(path)));
    }
    files.retain(|path| !is_excluded(path));
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "py" || extension == "ipynb" || extension == "pyw")
}
