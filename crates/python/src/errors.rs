//! Converts all errors to Python exceptions.
//!
//! | what went wrong | exception |
//! |---|---|
//! | a value, a store or the content of a file is refused | `ValueError`, whose message names the field, the value and what is allowed |
//! | a file cannot be read or written | `OSError`, `FileNotFoundError` |
//! | there is no such device, or it failed | `RuntimeError` |
//! | interrupted | `KeyboardInterrupt`, or what the signal's handler raised |

use misdeal::Error;
use misdeal_core::spell_fields;
use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use std::io::ErrorKind;

/// Returns the Python exception for a job's error.
#[allow(clippy::needless_pass_by_value, reason = "`map_err` gives it away")]
pub fn exception(error: Error) -> PyErr {
    match (error.refusal(), error.file()) {
        (Some(error), _) => refusal(error.clone()),
        (_, Some(error)) => of_file(error),
        _ if error.is_interrupted() => PyKeyboardInterrupt::new_err(spelled(&error.to_string())),
        _ => PyValueError::new_err(spelled(&error.to_string())),
    }
}

/// Returns the Python exception for a refusal.
pub fn refusal(error: misdeal_core::Error) -> PyErr {
    match error {
        misdeal_core::Error::Device(message) => PyRuntimeError::new_err(spelled(&message)),
        misdeal_core::Error::BadValue { field, value, allowed, hint } => PyValueError::new_err(format!(
            "{field} is {value}, but {} is allowed; {}",
            spelled(&allowed),
            spelled(&hint)
        )),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// Returns a message with its fields spelled as Python arguments.
pub fn spelled(message: &str) -> String {
    spell_fields(message, str::to_owned)
}

/// Converts an error about a file to a Python exception.
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

/// Returns the Python exception for a scan's error.
pub fn of_scan(error: &misdeal_scan::Error) -> PyErr {
    let message = error.to_string();
    match error {
        misdeal_scan::Error::NoSuchPath(_) => PyFileNotFoundError::new_err(message),
        misdeal_scan::Error::Threads(_) => PyRuntimeError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
