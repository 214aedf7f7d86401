//! Shared code for the tests of several crates: golden values, the suite of all engines, and small training data.
//!
//! # Why do unit tests of `core`, `statistics` and `theory` read their golden values themselves?
//! It takes one line. With this crate, their tests would have to wait for `game` and `train` to compile.
//!
//! # Where are planted faults?
//! They are in `misdeal_core::planted`, behind a feature. A fault must be inside the code that it breaks.

pub mod suite;
pub mod tiny;
pub mod trainings;

use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;

/// Reads the golden values in a file of `testdata`, such as `likelihood.toml`.
///
/// # Panics
/// If the file does not exist or does not contain a `T`.
pub fn golden<T: DeserializeOwned>(file: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reports that the calling test is skipped, and why.
///
/// The line is visible without `--nocapture`, because only the output of `print!` and `eprint!` is captured.
pub fn skip(reason: impl Display) {
    let test = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED {}: {reason}", test.name().unwrap_or("a test"));
}
