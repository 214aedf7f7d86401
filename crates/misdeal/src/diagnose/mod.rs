//! Finds which scheme made the batches of a log, and how much privacy it costs.

mod dropped;
mod empirical_law;
mod leakage;

use leakage::NoiseLevel;

use crate::Result;
use misdeal_core::{Error, path_text};
use misdeal_diagnose::DiagnosedLog;
use misdeal_files::batch_log::{self, BatchLog};
use misdeal_results::request::DiagnoseRequest;
use misdeal_results::{Diagnosed, Theory};
use std::time::Instant;

/// Reads a log, finds its scheme and bounds its leakage, on all cores of the current thread pool.
///
/// [`diagnose_batches`] has an example.
///
/// # Errors
/// A file cannot be read, the log exceeds the data set size, or a noise or delta is refused.
pub fn diagnose(request: &DiagnoseRequest) -> Result<Diagnosed> {
    leakage::check(request)?;
    let start = Instant::now();
    let Some(path) = &request.log else {
        let hint = "batches that a loader dealt, one on each line";
        return Err(Error::bad_value("log", "missing", "a file", hint).into());
    };
    let found = diagnose_log(&batch_log::read(path)?, request, start)?;
    Ok(Diagnosed { request: Some(request.clone()), ..found })
}

/// Like [`diagnose`], for a log in memory.
///
/// ```
/// use misdeal::{diagnose_batches, request::DiagnoseRequest};
/// let mut log = misdeal_files::batch_log::BatchLog::default();
/// for epoch in 0..2 {
///     log.push(epoch, 0, None, [0, 1, 2])?;
///     log.push(epoch, 0, None, [3, 4, 5])?;
/// }
/// let found = diagnose_batches(&log, &DiagnoseRequest::default())?;
/// assert_eq!((found.epochs, found.batch_size), (2, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The same as for [`diagnose`].
pub fn diagnose_batches(log: &BatchLog, request: &DiagnoseRequest) -> Result<Diagnosed> {
    leakage::check(request)?;
    diagnose_log(log, request, Instant::now())
}

/// Returns the number of records, as stated by the request or by the plan that the log is.
fn dataset_size(log: &BatchLog, request: &DiagnoseRequest) -> Result<Option<u64>> {
    match (request.dataset_size, log.dataset_size()) {
        (Some(given), Some(planned)) if given != planned => {
            let allowed = format!("{planned}, the number of records that the plan is for");
            Err(Error::bad_value("dataset_size", given, allowed, "this is a plan for other data").into())
        }
        (given, planned) => Ok(given.or(planned)),
    }
}

fn diagnose_log(log: &BatchLog, request: &DiagnoseRequest, start: Instant) -> Result<Diagnosed> {
    let found = misdeal_diagnose::diagnose(log, dataset_size(log, request)?)?;
    let (leakage, theory) = match NoiseLevel::of(request) {
        None => (None, Theory::default()),
        Some(noise) => {
            let costs = leakage::of(&found, noise, request.epochs)?;
            (Some(costs.leakage), costs.beside)
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    let positions = Some(found.positions());
    let DiagnosedLog { logged, diagnosis, .. } = found;
    Ok(Diagnosed {
        request: None,
        log: request.log.as_deref().map_or_else(String::new, |log| path_text(log).into_owned()),
        dataset_size: logged.dataset_size as u64,
        epochs: logged.epochs.len() as u64,
        steps_per_epoch: logged.epochs.iter().map(|epoch| epoch.ends.len()).max().unwrap_or(0) as u64,
        batch_size: logged.batch_size as u64,
        ranks: logged.ranks as u64,
        diagnosis,
        leakage,
        theory,
        seconds,
        positions,
    })
}
