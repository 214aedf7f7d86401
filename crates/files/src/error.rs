//! The one error type of the files: every refusal is one line with the path, what is wrong and what to do.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file was not read or not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}; {hint}", misdeal_core::printable_path(path))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried, as words that fit "cannot …".
        action: &'static str,
        /// What the operating system said.
        source: io::Error,
        /// What the user can do.
        hint: &'static str,
    },
    /// The name ends in something else than the formats that can be read.
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
    /// The contents are not what the format or the tool asks for.
    #[error("{}: {problem}; {hint}", misdeal_core::printable_path(path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        problem: String,
        /// What the user can do.
        hint: String,
    },
    /// A score is infinite or not a number, so that it has no place among the others.
    #[error(
        "{}: the score at index {index} (counted from 0) is {value}; only finite scores can be audited, so find \
             out where it comes from",
        misdeal_core::printable_path(path)
    )]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// Of the score, counted from 0.
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
    /// The file is sound, but what it says is refused.
    #[error("{}: {source}", misdeal_core::printable_path(path))]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        source: misdeal_core::Error,
    },
}

impl Error {
    /// Whether the request was fine, but the file could not be written now.
    pub fn is_failed_write(&self) -> bool {
        matches!(self, Error::Io { action: "write", .. } | Error::InUse { .. })
    }

    /// The message without the path, for whoever names the file elsewhere.
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
    /// The problem may hold words of the file; line feeds and other controls in them become spaces.
    pub(crate) fn malformed(path: &Path, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        let problem = problem.into().replace(char::is_control, " ");
        Error::Malformed { path: path.to_owned(), problem, hint: hint.into() }
    }

    /// The refusal of the core, with the file that it is about.
    pub fn refused(path: &Path, source: misdeal_core::Error) -> Self {
        Error::Refused { path: path.to_owned(), source }
    }
}

/// `Result` with the [`Error`] of the files.
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
