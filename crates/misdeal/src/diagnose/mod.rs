//! Which scheme made the batches of a log, and what that costs.

mod dropped;
mod empirical_law;
mod leakage;

pub use leakage::Leakage;
use leakage::NoiseLevel;

use crate::{Result, SCHEMA_VERSION};
use misdeal_core::{Bounds, Diagnosis, Error, PositionSample};
use misdeal_diagnose::DiagnosedLog;
use misdeal_files::batch_log::{self, BatchLog};
use misdeal_results::request::DiagnoseRequest;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// What a log tells.
#[derive(Debug, Clone, Serialize)]
pub struct DiagnoseReport {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    /// The file.
    #[serde(serialize_with = "misdeal_core::serialize_path")]
    pub log: PathBuf,
    /// Records in the data set.
    pub dataset_size: u64,
    /// Epochs in the log.
    pub epochs: u64,
    /// Steps of an epoch, in the longest one.
    pub steps_per_epoch: u64,
    /// Records of a step, in the largest one.
    pub batch_size: u64,
    /// Processes of a distributed run.
    pub ranks: u64,
    /// The scheme.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// What leaks under it, at the noise that was given.
    pub leakage: Option<Leakage>,
    /// What theory says of a full shuffle and of Poisson sampling with as many steps.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub theory: BTreeMap<&'static str, Bounds>,
    /// Time from the first byte to the verdict; the leakage is not in it.
    pub seconds: f64,
    /// Where some of the records were dealt.
    pub positions: PositionSample,
}

/// Reads a log, names its scheme and says what it costs, on all cores of the current thread pool.
///
/// # Errors
/// A file that cannot be read, a data set size that the log exceeds, or a noise or delta that is refused.
pub fn diagnose(request: &DiagnoseRequest) -> Result<DiagnoseReport> {
    leakage::check(request)?;
    let start = Instant::now();
    let Some(path) = &request.log else {
        let hint = "batches that a loader dealt, one on each line";
        return Err(Error::bad_value("log", "missing", "a file", hint).into());
    };
    diagnose_log(&batch_log::read(path)?, request, start)
}

/// As [`diagnose`], of a log that is in memory.
///
/// # Errors
/// As [`diagnose`].
pub fn diagnose_batches(log: &BatchLog, request: &DiagnoseRequest) -> Result<DiagnoseReport> {
    leakage::check(request)?;
    diagnose_log(log, request, Instant::now())
}

fn diagnose_log(log: &BatchLog, request: &DiagnoseRequest, start: Instant) -> Result<DiagnoseReport> {
    let found = misdeal_diagnose::diagnose(log, request.dataset_size)?;
    let seconds = start.elapsed().as_secs_f64();
    let (leakage, theory) = match NoiseLevel::of(request) {
        None => (None, BTreeMap::new()),
        Some(noise) => {
            let costs = leakage::of(&found, noise, request.epochs)?;
            (Some(costs.leakage), costs.beside)
        }
    };
    let positions = found.positions();
    let DiagnosedLog { logged, diagnosis, .. } = found;
    Ok(DiagnoseReport {
        schema_version: SCHEMA_VERSION,
        command: "diagnose",
        version: env!("CARGO_PKG_VERSION"),
        log: request.log.clone().unwrap_or_default(),
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
