//! The command line of misdeal: arguments, progress and exit codes.
//!
//! The crate has no logic of its own. It calls the library.
//!
//! ```
//! use misdeal_cli::{Environment, run};
//!
//! let environment = Environment::captured();
//! let code = run(["misdeal", "calibrate", "--target-epsilon", "1"], &environment);
//! assert_eq!(code, 0);
//! assert!(!environment.printed().stdout.is_empty());
//! ```

mod apart;
mod arguments;
mod check;
mod date;
mod environment;
mod failure;
mod help;
mod hints;
mod interruption;
mod jobs;
mod man;
mod output;
mod plot;
mod progress;
mod scan;
mod spinner;
mod style;
mod sweep;
mod text;
mod threads;

pub use environment::{Captured, Environment};

use arguments::{Arguments, AuditCommand, Command};
use clap::FromArgMatches;
use failure::{Failure, Success};
use std::ffi::OsString;

/// Runs the command that `arguments` name, and returns the exit code.
///
/// The first argument is the program's name. A process may call this function several times.
pub fn run<A: Into<OsString> + Clone>(
    arguments: impl IntoIterator<Item = A>,
    environment: &Environment,
) -> u8 {
    if environment.is_process() {
        interruption::outlive_file_limits();
    }
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let outcome = match parsed(&arguments, environment) {
        Ok(mut arguments) => {
            arguments.common.environment = environment.clone();
            let outcome = checked(arguments);
            environment.end();
            outcome
        }
        Err(error) => told(&error, &arguments, environment),
    };
    match outcome {
        Ok(Success::Fine) => 0,
        Ok(Success::BadNews) => 1,
        Err(failure) => {
            environment.tell(&failure.to_string());
            failure.code()
        }
    }
}

/// Returns all commands with their flags, as [`run`] reads them.
pub fn definition() -> clap::Command {
    help::definition()
}

fn parsed(arguments: &[OsString], environment: &Environment) -> Result<Arguments, clap::Error> {
    let mut definition = definition();
    if !environment.is_process() {
        definition = definition.term_width(100);
    }
    if arguments.windows(2).any(|pair| pair[0] == "--color" && pair[1] == "never")
        || arguments.iter().any(|word| word == "--color=never")
    {
        definition = definition.color(clap::ColorChoice::Never);
    }
    Arguments::from_arg_matches_mut(&mut definition.try_get_matches_from(arguments)?)
}

/// Prints the help or the version. Any other message of clap is a failure.
fn told(error: &clap::Error, arguments: &[OsString], environment: &Environment) -> Result<Success, Failure> {
    if error.use_stderr() {
        let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        return Err(failure::of_arguments(error, &words));
    }
    // A closed pipe is nobody's failure.
    let _ = if environment.is_process() { error.print() } else { environment.print(&error.to_string()) };
    Ok(Success::Fine)
}

/// Refuses arguments that cannot work, then runs the command on its threads.
fn checked(mut arguments: Arguments) -> Result<Success, Failure> {
    // The output of others is no document.
    if !matches!(
        arguments.command,
        Some(
            Command::Man
                | Command::Merge(_)
                | Command::Deal(_)
                | Command::Completions(_)
                | Command::Report(_)
        )
    ) {
        arguments.common.take_format_from_output();
    }
    let common = &arguments.common;
    // Its output is a folder.
    if !matches!(arguments.command, Some(Command::Man)) {
        common.check_output(matches!(arguments.command, Some(Command::Merge(_))))?;
        apart::check(arguments.command.as_ref(), common)?;
    }
    if !matches!(arguments.command, Some(Command::Scan(_))) {
        common.check_format()?;
    }
    let threads = common.checked_threads()?;
    threads::with(threads, || command(arguments))
}

fn command(Arguments { command, common }: Arguments) -> Result<Success, Failure> {
    let Some(command) = command else {
        return check::run_default(&common);
    };
    match command {
        Command::Check(arguments) => check::run(*arguments, &common),
        Command::Sweep(arguments) => sweep::run(*arguments, &common),
        Command::Audit { command: AuditCommand::Mechanism(arguments) } => {
            jobs::audit_mechanism(*arguments, &common)
        }
        Command::Audit { command: AuditCommand::Training(arguments) } => {
            jobs::audit_training(*arguments, &common)
        }
        Command::Estimate(arguments) => jobs::estimate(arguments, &common),
        Command::Merge(arguments) => jobs::merge(arguments, &common),
        Command::Account(arguments) => jobs::account(&arguments, &common),
        Command::Calibrate(arguments) => jobs::calibrate(&arguments, &common),
        Command::Deal(request) => jobs::deal(request, &common),
        Command::Diagnose(arguments) => jobs::diagnose(&arguments, &common),
        Command::Scan(arguments) => scan::run(&arguments, &common),
        Command::Reproduce(arguments) => jobs::reproduce(arguments, &common),
        Command::Report(arguments) => jobs::report(&arguments, &common),
        Command::Devices => jobs::devices(&common),
        Command::Completions(arguments) => jobs::completions(&arguments, &common),
        Command::Man => man::run(&common),
        Command::SelfTest(arguments) => jobs::self_test(arguments, &common),
    }
}
