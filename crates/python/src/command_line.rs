//! The command line, for the script `misdeal` that a wheel installs.

use misdeal_cli::{Environment, run};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::{self, Write};

/// Runs a command line and returns its exit code. The first argument is the program's name.
#[pyfunction]
pub fn command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let code = run(arguments, &Environment::process());
        // Only a program of Rust's own flushes its streams when it ends. A closed pipe is no failure.
        let _ = io::stdout().flush();
        code
    })
}
