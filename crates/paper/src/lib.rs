//! Re-runs the experiments behind the paper's tables and figures, and compares the numbers.
//!
//! The printed numbers and their audits are data in `paper/`. This crate only runs the audits, compares, and adds theory.

mod above_the_claim;
mod agreement;
mod artefact;
mod asked;
mod deal;
mod job;
mod played;
mod request;
mod row;
mod settings;

use asked::Asked;
use misdeal::request::ReproduceRequest;
use misdeal::{Progress, Result};
use misdeal_core::Precision;
use misdeal_results::{Heading, Reproduced, Reproduction};
use std::time::Instant;

/// Returns `heading` with the counts of its own rows filled in.
fn counted(heading: Heading, rows: &[Reproduced]) -> Heading {
    let rows: Vec<_> = rows.iter().filter(|row| row.artefact == heading.name).collect();
    Heading { above_the_claim: above_the_claim::of(&rows), ..heading }
}

/// Re-runs the paper's audits and compares the numbers.
///
/// # Errors
/// The name is unknown, the number of runs or observations is out of range, data or a device are missing, or the run is
/// interrupted.
pub fn reproduce(request: &ReproduceRequest, progress: &dyn Progress) -> Result<Reproduction> {
    request::check(request)?;
    let start = Instant::now();
    let asked = Asked::by(request)?;
    asked.make_folder(request)?;
    let rows = played_again(&asked, request, progress)?;
    Ok(Reproduction {
        request: Some(request.clone()),
        name: request.name.clone().unwrap_or_default(),
        seed: Some(request.seed),
        quick: request.quick,
        only: request.only.clone(),
        runs: request.runs,
        observations: request.observations,
        precision: Some(request.precision).filter(|&precision| precision != Precision::F32),
        artefacts: asked.artefacts.into_iter().map(|heading| counted(heading, &rows)).collect(),
        rows,
        deals: asked.deals,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Runs all rows in order. Rows whose data are missing say so.
///
/// # Errors
/// Data are missing and no row could run, or an error of [`reproduce`].
fn played_again(
    asked: &Asked,
    request: &ReproduceRequest,
    progress: &dyn Progress,
) -> Result<Vec<Reproduced>> {
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

/// Reports one audit's progress as a part of the whole progress.
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
