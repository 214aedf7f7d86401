//! Which scheme made the batches of a log, and what that costs.
//!
//! Each scheme is a law over logs, and the likeliest is named. Schemes that deal each record once are sequences of uniform choices
//! ([`choices`]): their likelihood is a product, a buffer's size is where the log first becomes possible, and the ranks of what was chosen
//! tell whether the choices were uniform ([`rank_tests`]). The others are laws of sets ([`incidence`]). What no scheme is meant to do
//! (copies, padding, dropped records, orders that repeat) is set aside first and reported as a defect.

mod choices;
mod copies;
mod deal;
mod dropped;
mod empirical_law;
mod incidence;
mod leakage;
mod orders;
mod p_values;
mod picture;
mod population;
mod rank_tests;
mod schemes;
mod verdict;

pub use leakage::NoiseLevel;

use crate::Result;
use deal::Deal;
use incidence::Incidence;
use misdeal_core::path_text;
use misdeal_files::batch_log::{self, BatchLog};
use misdeal_results::{Diagnosed, Theory};
use orders::Orders;
use schemes::{Evidence, candidates};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A log, and what to say about it.
#[derive(Debug, Clone)]
pub struct DiagnoseRequest {
    /// The file.
    pub log: PathBuf,
    /// Records in the data set; one more than the largest index if not given.
    pub dataset_size: Option<u64>,
    /// The noise at which the leakage is meant; none is given without it.
    pub noise: Option<NoiseLevel>,
    /// Epochs of the whole run; those of the log if not given.
    pub epochs: Option<u64>,
}

/// Reads a log, names its scheme and says what it costs, on all cores of the current thread pool.
///
/// # Errors
/// A file that cannot be read, a data set size that the log exceeds, or a noise or delta that is refused.
pub fn diagnose(request: &DiagnoseRequest) -> Result<Diagnosed> {
    leakage::check(request)?;
    let start = Instant::now();
    let log = batch_log::read(&request.log)?;
    diagnose_log(&log, &request.log, request, start)
}

/// As [`diagnose`], of a log that is in memory.
///
/// # Errors
/// As [`diagnose`].
pub fn diagnose_batches(log: &BatchLog, request: &DiagnoseRequest) -> Result<Diagnosed> {
    leakage::check(request)?;
    diagnose_log(log, &request.log, request, Instant::now())
}

fn diagnose_log(log: &BatchLog, path: &Path, request: &DiagnoseRequest, start: Instant) -> Result<Diagnosed> {
    let (deal, mut defects) = Deal::new(log, request.dataset_size)?;
    let ((orders, found), incidence) = rayon::join(|| Orders::of(&deal), || Incidence::of(&deal));
    defects.extend(found);
    let evidence = Evidence { deal: &deal, orders: orders.as_ref(), incidence: &incidence };
    let diagnosis = verdict::diagnosis(&deal, orders.as_ref(), candidates(&evidence), defects);
    let seconds = start.elapsed().as_secs_f64();
    let (leakage, theory) = match request.noise {
        None => (None, Theory::default()),
        Some(noise) => {
            let found = leakage::of(&diagnosis, &deal, orders.as_ref(), noise, request.epochs)?;
            (Some(found.leakage), found.beside)
        }
    };
    Ok(Diagnosed {
        log: path_text(path).into_owned(),
        dataset_size: deal.dataset_size as u64,
        epochs: deal.epochs.len() as u64,
        steps_per_epoch: deal.epochs.iter().map(|epoch| epoch.ends.len()).max().unwrap_or(0) as u64,
        batch_size: deal.batch_size as u64,
        ranks: deal.ranks as u64,
        diagnosis,
        leakage,
        theory,
        seconds,
        positions: Some(picture::sample(&deal)),
    })
}
