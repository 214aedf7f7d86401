//! The paper's tables and figures, beside what comes out here.
//!
//! What is printed, and which audit should give it, lies as data in `paper/`; this crate only plays, compares and adds theory.

mod above_the_claim;
mod artefact;
mod asked;
mod deal;
mod job;
mod played;
mod provenance;
mod request;
mod row;
mod settings;
mod verdict;

pub use above_the_claim::{AboveCount, AboveTheClaim};
pub use deal::Deal;
pub use provenance::Provenance;
pub use row::ReproducedRow;
pub use verdict::Verdict;

use asked::Asked;
use misdeal::request::ReproduceRequest;
use misdeal::{Progress, Result, SCHEMA_VERSION};
use misdeal_core::Precision;
use serde::Serialize;
use std::time::{Duration, Instant};

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
    pub precision: Option<Precision>,
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
    /// In how many settings more is found than is claimed, where the rows are published settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_the_claim: Option<AboveTheClaim>,
}

impl ArtefactHeading {
    /// The same, with what is counted over those of these rows that are the artefact's.
    fn counted(self, rows: &[ReproducedRow]) -> Self {
        let rows: Vec<_> = rows.iter().filter(|row| row.artefact == self.name).collect();
        ArtefactHeading { above_the_claim: AboveTheClaim::of(&rows), ..self }
    }
}

impl ReproduceReport {
    fn of(request: &ReproduceRequest, asked: Asked, rows: Vec<ReproducedRow>, time: Duration) -> Self {
        ReproduceReport {
            schema_version: SCHEMA_VERSION,
            command: "reproduce",
            version: env!("CARGO_PKG_VERSION"),
            name: request.name.clone().unwrap_or_default(),
            seed: request.seed,
            quick: request.quick,
            only: request.only.clone(),
            runs: request.runs,
            observations: request.observations,
            precision: Some(request.precision).filter(|&precision| precision != Precision::F32),
            artefacts: asked.artefacts.into_iter().map(|heading| heading.counted(&rows)).collect(),
            rows,
            deals: asked.deals,
            seconds: time.as_secs_f64(),
        }
    }
}

/// Plays what the paper played, and compares.
///
/// # Errors
/// An unknown name, a number of runs or of observations out of range, data that are not there, a device that is not, or an interruption.
pub fn reproduce(request: &ReproduceRequest, progress: &dyn Progress) -> Result<ReproduceReport> {
    request::check(request)?;
    let start = Instant::now();
    let asked = Asked::by(request)?;
    asked.make_folder(request)?;
    let rows = played_again(&asked, request, progress)?;
    Ok(ReproduceReport::of(request, asked, rows, start.elapsed()))
}

/// Plays all rows, in their order. Those whose data are missing say so, unless nothing else is played.
///
/// # Errors
/// Data are missing and nothing was played, or as [`reproduce`].
fn played_again(
    asked: &Asked,
    request: &ReproduceRequest,
    progress: &dyn Progress,
) -> Result<Vec<ReproducedRow>> {
    let total: u64 = asked.rows.iter().map(|(_, row)| row.work(request)).sum();
    let mut done = 0;
    let mut rows = Vec::with_capacity(asked.rows.len());
    let mut missing_data = None;
    for (artefact, row) in &asked.rows {
        let played = row.played(request, &Part { whole: progress, done, total })?;
        rows.push(row.beside(artefact, row.observations(request), &played));
        missing_data = missing_data.or(played.missing_data);
        done += row.work(request);
    }
    match missing_data {
        Some(error) if rows.iter().all(|row| row.ours.is_none()) => Err(error),
        _ => Ok(rows),
    }
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
