//! The command line of misdeal: arguments, progress, exit codes, and no logic of its own.

mod account;
mod apart;
mod arguments;
mod audit_mechanism;
mod audit_training;
mod audits;
mod completions;
mod devices;
mod diagnose;
mod estimate;
mod failure;
mod interruption;
mod man;
mod merge;
mod number;
mod output;
mod plot;
mod progress;
mod report;
mod reproduce;
mod scan;
mod self_test;
mod text;

use arguments::{Arguments, AuditCommand, Command, MechanismArguments};
use clap::Parser;
use failure::{Failure, Success};
use std::process::ExitCode;

fn main() -> ExitCode {
    interruption::outlive_file_limits();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return failure::of_arguments(&error),
    };
    let outcome = run(arguments);
    interruption::tell_the_end();
    match outcome {
        Ok(Success::Fine) => ExitCode::SUCCESS,
        Ok(Success::BadNews) => ExitCode::from(1),
        Err(failure) => failure.report(),
    }
}

fn run(arguments: Arguments) -> Result<Success, Failure> {
    let common = arguments.common;
    // Its output is a folder.
    if !matches!(arguments.command, Some(Command::Man)) {
        common.check_output()?;
        apart::check(arguments.command.as_ref(), &common)?;
    }
    if !matches!(arguments.command, Some(Command::Scan(_))) {
        common.check_format()?;
    }
    common.start_threads()?;
    match arguments.command {
        None => audit_mechanism::run(&MechanismArguments::default(), &common),
        Some(Command::Audit { command: AuditCommand::Mechanism(arguments) }) => {
            audit_mechanism::run(&arguments, &common)
        }
        Some(Command::Audit { command: AuditCommand::Training(arguments) }) => {
            audit_training::run(&arguments, &common)
        }
        Some(Command::Estimate(arguments)) => estimate::run(&arguments, &common),
        Some(Command::Merge(arguments)) => merge::run(&arguments, &common),
        Some(Command::Account(arguments)) => account::account(&arguments, &common),
        Some(Command::Calibrate(arguments)) => account::calibrate(&arguments, &common),
        Some(Command::Diagnose(arguments)) => diagnose::run(&arguments, &common),
        Some(Command::Scan(arguments)) => scan::run(&arguments, &common),
        Some(Command::Reproduce(arguments)) => reproduce::run(&arguments, &common),
        Some(Command::Report(arguments)) => report::run(&arguments, &common),
        Some(Command::Devices) => devices::run(&common),
        Some(Command::Completions(arguments)) => completions::run(&arguments, &common),
        Some(Command::Man) => man::run(&common),
        Some(Command::SelfTest(arguments)) => self_test::run(&arguments, &common),
    }
}
