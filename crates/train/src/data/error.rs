//! The error type of data sets: one line that says what is wrong and what to do.

use std::io;
use std::path::{Path, PathBuf};

/// Why a data set cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name or size of the data set is invalid.
    #[error(transparent)]
    Refused(#[from] misdeal_core::Error),
    /// A file cannot be opened.
    #[error(transparent)]
    File(#[from] misdeal_files::Error),
    /// The files of the data set are not in the data folder.
    #[error("{dataset} is not {}; put {files} (audits of training also have `dataset` synthetic, which needs no files)", match folder {
        Some(folder) => format!("in the data folder {}", misdeal_core::printable_path(folder)),
        None => "at hand, for no data folder is given (`data` or the environment variable MISDEAL_DATA)".to_owned(),
    })]
    Missing {
        /// The name of the data set.
        dataset: &'static str,
        /// The folder that was searched.
        folder: Option<PathBuf>,
        /// Which files are needed, where to get them, and where to put them; follows "put" in the message.
        files: &'static str,
    },
    /// The operating system refused to read the file.
    #[error(
        "cannot read {}: {source}; check the path and the permissions",
        misdeal_core::printable_path(path)
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The content does not fit the format.
    #[error("{}: {problem}; {hint}", misdeal_core::printable_path(path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        problem: Problem,
        /// What the user can do.
        hint: &'static str,
    },
}

/// What is wrong with the bytes; a caller adds the file.
pub(super) type Problem = String;

impl Error {
    /// Makes the error for a problem in the file at `path`.
    pub(super) fn in_file(path: &Path, hint: &'static str) -> impl Fn(Problem) -> Self {
        move |problem| Error::Malformed { path: path.to_owned(), problem: one_line(&problem), hint }
    }

    /// Makes the error for a failure to read `path`.
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Error::Io { path: path.to_owned(), source }
    }
}

/// Replaces control characters by spaces; names inside files may contain them.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// `Result` with the [`Error`] of the data sets.
pub type Result<T> = std::result::Result<T, Error>;
