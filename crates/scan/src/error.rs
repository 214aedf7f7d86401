//! The errors of a scan.

use misdeal_core::printable_path;
use std::path::PathBuf;

/// Why nothing was scanned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path does not exist.
    #[error("{}: no such file or folder; give Python files, notebooks or folders", printable_path(.0))]
    NoSuchPath(PathBuf),
    /// The operating system refuses a path.
    #[error("{}: {reason}; give Python files, notebooks or folders", printable_path(path))]
    BadPath {
        /// The path.
        path: PathBuf,
        /// The operating system's error.
        reason: String,
    },
    /// There were files, but none could be scanned.
    #[error("{path}: not scanned: {reason}{}; give Python files, notebooks or folders of them", others(*files))]
    NothingScanned {
        /// The number of files.
        files: usize,
        /// The first of these files.
        path: String,
        /// Why that file was not scanned.
        reason: String,
    },
    /// There is no rule with this name.
    #[error("{field}: there is no rule {name:?}; allowed are {}", crate::rules::names().join(", "))]
    NoSuchRule {
        /// The flag or setting with the name.
        field: &'static str,
        /// The unknown name.
        name: String,
    },
    /// A pattern is not valid.
    #[error("exclude: {pattern:?} is not a pattern: {reason}; write for example \"tests/**\"")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with the pattern.
        reason: String,
    },
    /// More patterns than can be compiled within a gigabyte.
    #[error(
        "exclude: {patterns} patterns have {bytes} bytes, more than the {most} that are read; exclude folders instead of files"
    )]
    TooManyPatterns {
        /// How many there are.
        patterns: usize,
        /// Their length together.
        bytes: usize,
        /// The most that is allowed.
        most: usize,
    },
    /// The settings cannot be read.
    #[error("{}: {reason}", printable_path(path))]
    BadSettings {
        /// The file.
        path: PathBuf,
        /// What is wrong with the file.
        reason: String,
    },
    /// A file cannot be changed.
    #[error("{path}: not changed: {reason}; scan again")]
    CannotEdit {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// Threads could not be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
}

/// A remark about the other files, if there is more than one.
fn others(files: usize) -> String {
    if files > 1 { format!(" (nor could any of the other files, {files} in all)") } else { String::new() }
}
