//! Checks that a command overwrites none of its other files.
//!
//! Each file that it writes must differ from those that it reads, and from the others that it writes.

use crate::arguments::{
    AuditCommand, CheckArguments, Command, CommonArguments, DiagnoseArguments, EstimateArguments,
    OutcomeArguments, ScanArguments, SweepArguments,
};
use crate::failure::Failure;
use misdeal::request::Run;
use misdeal_files::atomic::{Named, check_apart};
use std::path::{Path, PathBuf};

/// The files of a command, each with the flag or word that names it.
#[derive(Default)]
struct Files<'a> {
    read: Vec<Named<'a>>,
    written: Vec<Named<'a>>,
}

impl<'a> Files<'a> {
    fn reading(mut self, name: &'static str, path: Option<&'a (impl AsRef<Path> + ?Sized)>) -> Self {
        self.read.extend(path.map(|path| (name, path.as_ref())));
        self
    }

    fn writing(mut self, name: &'static str, path: Option<&'a PathBuf>) -> Self {
        self.written.extend(path.map(|path| (name, path.as_path())));
        self
    }

    fn of_run(run: &'a Run, outcome: &'a OutcomeArguments) -> Self {
        Files::default().writing("store", run.store.as_ref()).writing("plot", outcome.plot.as_ref())
    }

    fn of(command: Option<&'a Command>) -> Self {
        let none = Files::default();
        match command {
            Some(Command::Audit { command: AuditCommand::Mechanism(audit) }) => {
                Self::of_run(&audit.request.run, &audit.outcome)
            }
            Some(Command::Audit { command: AuditCommand::Training(audit) }) => {
                let request = &audit.request;
                let files = [("model", &request.model, "toml"), ("dataset", &request.dataset, "npz")];
                // Other words are names of the program's own.
                let files = files.map(|(name, word, extension)| (name, Path::new(word), extension));
                let named = files
                    .into_iter()
                    .filter(|(_, path, extension)| path.extension().is_some_and(|e| e == *extension));
                named.fold(Self::of_run(&request.run, &audit.outcome), |files, (name, path, _)| {
                    files.reading(name, Some(path))
                })
            }
            Some(Command::Estimate(EstimateArguments { request, plot, .. })) => none
                .reading("scores-in", request.scores_in.as_ref())
                .reading("scores-out", request.scores_out.as_ref())
                .reading("scores", request.scores.as_ref())
                .writing("plot", plot.as_ref()),
            Some(Command::Diagnose(DiagnoseArguments { request, plot, .. })) => {
                none.reading("log", request.log.as_ref()).writing("plot", plot.as_ref())
            }
            Some(Command::Scan(ScanArguments { request, .. })) => request
                .paths
                .iter()
                .chain(&request.config)
                .fold(none, |files, path| files.reading("source", Some(path))),
            Some(Command::Deal(request)) => none.reading("seed-file", request.seed_file.as_ref()),
            Some(Command::Account(account)) => none.writing("plot", account.plot.as_ref()),
            Some(Command::Check(check)) => {
                let CheckArguments { request, report, plot, .. } = &**check;
                let cards = request.cards.iter().fold(none, |files, path| files.reading("card", Some(path)));
                cards.writing("report", report.as_ref()).writing("plot", plot.as_ref())
            }
            Some(Command::Sweep(sweep)) => {
                let SweepArguments { report, plot, .. } = &**sweep;
                none.writing("report", report.as_ref()).writing("plot", plot.as_ref())
            }
            Some(Command::Report(report)) => {
                report.results.iter().fold(none, |files, path| files.reading("result", Some(path)))
            }
            Some(Command::Reproduce(reproduce)) => none.writing("plot", reproduce.plot.as_ref()),
            _ => none,
        }
    }
}

/// Refuses a file that would replace another file of the same command.
pub fn check(command: Option<&Command>, common: &CommonArguments) -> Result<(), Failure> {
    let files = Files::of(command).writing("output", common.output.as_ref());
    Ok(check_apart(&files.read, &files.written)?)
}
