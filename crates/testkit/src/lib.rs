//! What tests of several crates share; no program has it.

use std::fmt::Display;
use std::io::Write;

/// Says that the test that calls it checks nothing here, and why. The line is seen without `--nocapture`: only what `print!` and
/// `eprint!` write is captured.
pub fn skip(reason: impl Display) {
    let test = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED {}: {reason}", test.name().unwrap_or("a test"));
}
