//! The paper's tables and figures, beside what comes out here.
//!
//! What is printed, and which audit should give it, lies as data in `paper/`; this room only plays, compares and adds theory.

mod artefact;
mod deal;
mod job;
mod row;
mod settings;
mod verdict;

pub use artefact::NAMES as ARTEFACTS;
pub use deal::Deal;
pub use row::ReproducedRow;
pub use verdict::Verdict;

use crate::devices::devices;
use crate::{Progress, Result, RunRequest, SCHEMA_VERSION};
use artefact::{PaperRow, artefact};
use misdeal_core::Error;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What to reproduce, and with how much work.
#[derive(Debug, Clone)]
pub struct ReproduceRequest {
    /// One of [`ARTEFACTS`], or `all`.
    pub name: String,
    /// Whether to play fewer observations, in one run instead of five.
    pub quick: bool,
    /// The number of runs that means are taken over; the paper's if not given.
    pub runs: Option<u64>,
    /// Observations of a run at most; the paper's if not given.
    pub observations: Option<u64>,
    /// What to compute on: `auto`, `cpu` or `cuda`.
    pub device: String,
    /// The arithmetic of trainings on a CUDA device: `f32` or `tf32`.
    pub precision: String,
    /// The folder that holds data sets.
    pub data: Option<PathBuf>,
    /// The seed of the first run; the others take those that follow.
    pub seed: u64,
    /// Play only the rows whose names contain this.
    pub only: Option<String>,
    /// The folder where every audit saves its scores, at intervals and at the end.
    pub store: Option<PathBuf>,
    /// Whether to go on from what that folder holds: finished audits are read, and not played again.
    pub resume: bool,
}

impl ReproduceRequest {
    /// Whether there is a graphics processor that may be used.
    fn has_device(&self) -> bool {
        self.device == "cuda" || self.device == "auto" && devices().cuda_missing.is_none()
    }
}

/// Printed numbers beside ours.
#[derive(Debug, Clone, Serialize)]
pub struct ReproduceReport {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    /// What was asked for.
    pub name: String,
    /// The seed of the first run.
    pub seed: u64,
    /// Whether fewer observations were played than in the paper.
    pub quick: bool,
    /// What the names of the rows that were played contain, if not all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// Runs that means were to be taken over, if not those of the paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// Observations that a run was to have at most, if not those of the paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observations: Option<u64>,
    /// The arithmetic that trainings on a CUDA device were to have, if not f32.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<String>,
    /// What each table or figure shows, and what to know about it.
    pub artefacts: Vec<ArtefactHeading>,
    /// The numbers, in the order of the paper.
    pub rows: Vec<ReproducedRow>,
    /// What drawings show, dealt again.
    pub deals: Vec<Deal>,
    /// Time for all of them.
    pub seconds: f64,
}

/// What a table or a figure is about.
#[derive(Debug, Clone, Serialize)]
pub struct ArtefactHeading {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// Where it stands in the paper.
    pub place: String,
    /// What a reader should know.
    pub remarks: Vec<String>,
}

/// Plays what the paper played, and compares.
///
/// # Errors
/// An unknown name, a number of runs or of observations out of range, data that are not there, a device that is not, or an interruption.
pub fn reproduce(request: &ReproduceRequest, progress: &dyn Progress) -> Result<ReproduceReport> {
    if let Some(runs) = request.runs.filter(|runs| !(1..=1000).contains(runs)) {
        let hint = "the paper takes means over five";
        return Err(Error::bad_value("runs", runs, "a whole number from 1 to 1000", hint).into());
    }
    if let Some(observations) = request.observations {
        RunRequest::new(observations).check()?;
    }
    let names: Vec<&'static str> = match request.name.as_str() {
        "all" => ARTEFACTS.into(),
        name => {
            artefact(name)?;
            ARTEFACTS.into_iter().filter(|other| *other == name).collect()
        }
    };
    let start = std::time::Instant::now();
    let mut artefacts = Vec::new();
    let mut jobs: Vec<(&'static str, PaperRow)> = Vec::new();
    let mut deals = Vec::new();
    for name in names {
        let found = artefact(name)?;
        artefacts.push(ArtefactHeading {
            name,
            title: found.title,
            place: found.place,
            remarks: found.remarks,
        });
        // What is asked for by the name of a row is no drawing.
        for job in found.deals.iter().filter(|_| request.only.is_none()) {
            deals.push(job.dealt(name, request.seed)?);
        }
        let is_asked_for = |row: &PaperRow| request.only.as_ref().is_none_or(|only| row.name.contains(only));
        jobs.extend(found.rows.into_iter().filter(is_asked_for).map(|row| (name, row)));
    }
    if let Some(only) = request.only.as_ref().filter(|only| only.is_empty() || jobs.is_empty()) {
        let hint = "names of rows are in the first column of what is printed without --only";
        return Err(Error::bad_value("only", only, "a part of a row's name", hint).into());
    }
    if !request.has_device() {
        jobs.retain(|(_, row)| !row.needs_device);
    }
    if jobs.is_empty() && deals.is_empty() {
        let hint = "these rows are for a graphics processor; play those with fewer observations, or choose cuda where there is one";
        return Err(Error::bad_value("device", &request.device, "cuda for these rows", hint).into());
    }
    if request.precision == "tf32" && !request.has_device() && jobs.iter().any(|(_, row)| row.trains(request))
    {
        let hint = "only a graphics processor has such arithmetic, and none may be used here";
        return Err(Error::bad_value("precision", "tf32", "f32 without a CUDA device", hint).into());
    }
    if let Some(folder) = &request.store {
        std::fs::create_dir_all(folder).map_err(|error| cannot_keep(folder, &error))?;
        let there = jobs.iter().flat_map(|(_, row)| row.stores(request)).find(|file| file.exists());
        if let Some(file) = there.filter(|_| !request.resume) {
            let hint =
                format!("{} is there: give --resume to go on from it, or another name", file.display());
            return Err(
                Error::bad_value("store", folder.display(), "a folder without these scores", hint).into()
            );
        }
    }
    let total: u64 = jobs.iter().map(|(_, row)| row.work(request)).sum();
    let mut done = 0;
    let mut rows: Vec<ReproducedRow> = Vec::with_capacity(jobs.len());
    let mut missing_data = None;
    for (name, row) in &jobs {
        let (row_of, missing) = row.reproduced(name, request, &Part { whole: progress, done, total })?;
        rows.push(row_of);
        missing_data = missing_data.or(missing);
        done += row.work(request);
    }
    if let Some(error) = missing_data.filter(|_| rows.iter().all(|row| row.ours.is_none())) {
        return Err(error.into());
    }
    Ok(ReproduceReport {
        schema_version: SCHEMA_VERSION,
        command: "reproduce",
        version: env!("CARGO_PKG_VERSION"),
        name: request.name.clone(),
        seed: request.seed,
        quick: request.quick,
        only: request.only.clone(),
        runs: request.runs,
        observations: request.observations,
        precision: Some(request.precision.clone()).filter(|precision| precision != "f32"),
        artefacts,
        rows,
        deals,
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn cannot_keep(folder: &Path, error: &std::io::Error) -> Error {
    let hint = format!("scores are saved there: {error}");
    Error::bad_value("store", folder.display(), "a folder that can be written", hint)
}

/// One audit's progress as a part of the whole's.
struct Part<'a> {
    whole: &'a dyn Progress,
    done: u64,
    total: u64,
}

impl Progress for Part<'_> {
    fn observed(&self, done: u64, _total: u64) {
        self.whole.observed(self.done + done, self.total);
    }

    fn is_interrupted(&self) -> bool {
        self.whole.is_interrupted()
    }
}
