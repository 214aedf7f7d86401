//! Errors of a scan.

use misdeal_core::printable_path;
use std::path::PathBuf;

/// Why nothing was scanned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path that is not there.
    #[error("{}: no such file or folder; give Python files, notebooks or folders", printable_path(.0))]
    NoSuchPath(PathBuf),
    /// A path that the operating system refuses.
    #[error("{}: {reason}; give Python files, notebooks or folders", printable_path(path))]
    BadPath {
        /// The path.
        path: PathBuf,
        /// What the operating system said.
        reason: String,
    },
    /// Files of which none could be scanned.
    #[error("{path}: not scanned: {reason}{}; give Python files, notebooks or folders of them", others(*files))]
    NothingScanned {
        /// How many files there were.
        files: usize,
        /// The first of them.
        path: String,
        /// Why it was not scanned.
        reason: String,
    },
    /// A rule that nobody wrote.
    #[error("{field}: there is no rule {name:?}; allowed are {}", crate::rules::names().join(", "))]
    NoSuchRule {
        /// The flag or setting that names it.
        field: &'static str,
        /// What it says.
        name: String,
    },
    /// A pattern that is not one.
    #[error("exclude: {pattern:?} is not a pattern: {reason}; write for example \"tests/**\"")]
    BadPattern {
        /// What was given.
        pattern: String,
        /// What is wrong with it.
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
    /// Settings that cannot be read.
    #[error("{}: {reason}", printable_path(path))]
    BadSettings {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Threads that could not be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
}

/// What is said of the files after the first.
fn others(files: usize) -> String {
    if files > 1 { format!(" (nor could any of the other files, {files} in all)") } else { String::new() }
}
