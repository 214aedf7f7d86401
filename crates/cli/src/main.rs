//! The program `misdeal`.

use misdeal_cli::{Environment, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(run(std::env::args_os(), Environment::process()))
}
