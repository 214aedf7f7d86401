//! The one place where refusals become Python's exceptions.
//!
//! | what went wrong | exception |
//! |---|---|
//! | a value, a store or the content of a file is refused | `ValueError`, whose message names the field, the value and what is allowed |
//! | a file cannot be read or written | `OSError`, `FileNotFoundError` |
//! | there is no such device, or it failed | `RuntimeError` |
//! | interrupted | `KeyboardInterrupt`, or what the signal's handler raised |

use misdeal::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use std::io::ErrorKind;

/// What a job's error is in Python.
#[allow(clippy::needless_pass_by_value, reason = "`map_err` gives it away")]
pub fn exception(error: Error) -> PyErr {
    match (error.refusal(), error.file()) {
        (Some(error), _) => refusal(error.clone()),
        (_, Some(error)) => of_file(error),
        _ if error.is_interrupted() => PyKeyboardInterrupt::new_err(without_dashes(&error.to_string())),
        _ => PyValueError::new_err(without_dashes(&error.to_string())),
    }
}

/// What a refusal is in Python.
pub fn refusal(error: misdeal_core::Error) -> PyErr {
    match error {
        misdeal_core::Error::Device(message) => PyRuntimeError::new_err(without_dashes(&message)),
        other => PyValueError::new_err(without_dashes(&other.to_string())),
    }
}

/// A hint that names flags of the command line, with the arguments that they are here: `buffer_size` for `--buffer-size`.
pub fn without_dashes(message: &str) -> String {
    let mut parts = message.split("--");
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_of_name = |c: char| c.is_ascii_lowercase() || c == '-';
        let (name, rest) = part.split_at(part.find(|c| !is_of_name(c)).unwrap_or(part.len()));
        let starts_a_word = told.is_empty() || told.ends_with([' ', '(']);
        if starts_a_word && name.starts_with(|c: char| c.is_ascii_lowercase()) {
            told += &name.replace('-', "_");
        } else {
            told += "--";
            told += name;
        }
        told += rest;
    }
    told
}

/// What a file's error is in Python.
pub fn of_file(error: &misdeal_files::Error) -> PyErr {
    let message = error.to_string();
    match error {
        misdeal_files::Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(message)
        }
        misdeal_files::Error::Io { .. } => PyOSError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// What a scan's error is in Python.
pub fn of_scan(error: &misdeal_scan::Error) -> PyErr {
    let message = error.to_string();
    match error {
        misdeal_scan::Error::NoSuchPath(_) => PyFileNotFoundError::new_err(message),
        misdeal_scan::Error::Threads(_) => PyRuntimeError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
