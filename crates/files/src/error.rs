//! The error type of this crate: one line with the path, what is wrong and what to do.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system reports an error.
    #[error("cannot {action} {}: {source}; {hint}", misdeal_core::printable_path(path))]
    Io {
        /// The file.
        path: PathBuf,
        /// The action that failed, to follow "cannot".
        action: &'static str,
        /// The system's error.
        source: io::Error,
        /// The next step.
        hint: &'static str,
    },
    /// The extension is not a known format.
    #[error(
        "{}: {problem}; scores are read from .npy, .csv and .parquet files",
        misdeal_core::printable_path(path)
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// What is wrong with the extension.
        problem: String,
    },
    /// The content does not fit the format.
    #[error("{}: {problem}; {hint}", misdeal_core::printable_path(path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        problem: String,
        /// The next step.
        hint: String,
    },
    /// A score is infinite or not a number.
    #[error(
        "{}: the score at index {index} (counted from 0) is {value}; only finite scores can be audited, so find \
             out where it comes from",
        misdeal_core::printable_path(path)
    )]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The index of the score, from 0.
        index: usize,
        /// The score.
        value: f64,
    },
    /// Another process is writing the file.
    #[error(
        "{} is in use: another process is writing it; wait until it ends, or choose another name",
        misdeal_core::printable_path(path)
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file is intact, but its content is refused.
    #[error("{}: {source}", misdeal_core::printable_path(path))]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        source: misdeal_core::Error,
    },
}

impl Error {
    /// Whether writing failed although the request was valid.
    pub fn is_failed_write(&self) -> bool {
        matches!(self, Error::Io { action: "write", .. } | Error::InUse { .. })
    }

    /// The message without the path.
    pub fn reason(&self) -> String {
        let whole = self.to_string();
        let path = match self {
            Error::Io { path, .. }
            | Error::UnknownFormat { path, .. }
            | Error::Malformed { path, .. }
            | Error::NotFinite { path, .. }
            | Error::InUse { path }
            | Error::Refused { path, .. } => misdeal_core::printable_path(path),
        };
        whole.strip_prefix(&format!("{path}: ")).map_or_else(|| whole.replacen(&path, "it", 1), str::to_owned)
    }

    /// An [`Io`](Error::Io) with a hint that fits the kind of failure.
    pub(crate) fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        let hint = match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "check the path",
            io::ErrorKind::InvalidFilename => "choose a shorter name",
            io::ErrorKind::InvalidInput => "check the name",
            io::ErrorKind::PermissionDenied => "check the permissions of the file and its folder",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free some space or choose another disk"
            }
            _ => "check the disk and try again",
        };
        Error::Io { path: path.to_owned(), action, source, hint }
    }

    /// A [`Malformed`](Error::Malformed) from its three parts.
    ///
    /// Control characters in the problem, which may quote the file, become spaces.
    pub fn malformed(path: &Path, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        let problem = problem.into().replace(char::is_control, " ");
        Error::Malformed { path: path.to_owned(), problem, hint: hint.into() }
    }

    /// An error of the core with the path of the file.
    pub fn refused(path: &Path, source: misdeal_core::Error) -> Self {
        Error::Refused { path: path.to_owned(), source }
    }
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_line_with_the_path() {
        let path = Path::new("runs/a.npy");
        let core = misdeal_core::Error::bad_value("epochs", 0, "a number from 1", "counts start at 1");
        let errors = [
            Error::io(path, "read", io::ErrorKind::NotFound.into()),
            Error::io(path, "write", io::ErrorKind::StorageFull.into()),
            Error::malformed(path, "it is\ntorn", "save it again"),
            Error::NotFinite { path: path.to_owned(), index: 7, value: f64::NAN },
            Error::UnknownFormat { path: path.to_owned(), problem: "no".into() },
            Error::refused(path, core),
        ];
        for error in errors {
            let message = error.to_string();
            assert!(
                message.contains("runs/a.npy") && !message.contains('\n') && !message.contains("  "),
                "{message}"
            );
            assert!(message.contains(';'), "{message}");
        }
    }
}
