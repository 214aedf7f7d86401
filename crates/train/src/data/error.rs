//! The one error type of the data sets: every refusal is one line that says what is wrong and what to do.

use std::io;
use std::path::{Path, PathBuf};

/// Why a data set was not loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name or the size of the data set is not one that can be had.
    #[error(transparent)]
    Refused(#[from] misdeal_core::Error),
    /// A file was not opened.
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
        /// Where it was looked for.
        folder: Option<PathBuf>,
        /// Which files, from whom, and where they go, as words that fit "put …".
        files: &'static str,
    },
    /// The operating system refused.
    #[error(
        "cannot read {}: {source}; check the path and the permissions",
        misdeal_core::printable_path(path)
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The contents are not what the format asks for.
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

/// What is wrong with bytes whose file is known only further up.
pub(super) type Problem = String;

impl Error {
    /// Turns what is wrong with the bytes into the refusal of the file at `path`.
    pub(super) fn in_file(path: &Path, hint: &'static str) -> impl Fn(Problem) -> Self {
        move |problem| Error::Malformed { path: path.to_owned(), problem: one_line(&problem), hint }
    }

    /// Turns what the operating system said into the refusal of the file at `path`.
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Error::Io { path: path.to_owned(), source }
    }
}

/// `text` without line breaks and other control characters, which names inside of files may hold.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// `Result` with the [`Error`] of the data sets.
pub type Result<T> = std::result::Result<T, Error>;
