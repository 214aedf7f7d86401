//! What the tests of several crates share: golden values, the suite of all engines, and data small enough to train on.
//!
//! # Why do unit tests of `core`, `statistics` and `theory` read their golden values themselves?
//! One line does it, and their tests would wait for `game` and `train` to compile.
//!
//! # Where are planted faults?
//! In `misdeal_core::planted`, behind a feature: they must lie in the code that they spoil.

pub mod suite;
pub mod tiny;
pub mod trainings;

use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;

/// The golden values of a file of `testdata`, such as `likelihood.toml`.
///
/// # Panics
/// If the file is not there, or does not hold a `T`.
pub fn golden<T: DeserializeOwned>(file: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Says that the test that calls it checks nothing here, and why. The line is seen without `--nocapture`: only what `print!` and
/// `eprint!` write is captured.
pub fn skip(reason: impl Display) {
    let test = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED {}: {reason}", test.name().unwrap_or("a test"));
}
