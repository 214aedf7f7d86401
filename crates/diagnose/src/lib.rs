//! Which scheme made the batches of a log, and what is wrong with them.
//!
//! ```
//! use misdeal_core::{Setting, Stream, World};
//! use misdeal_files::batch_log::BatchLog;
//!
//! let setting = Setting { steps_per_epoch: 20, batch_size: 10, ..Setting::default() };
//! let mut sampler = misdeal_schemes::sampler(&setting, &Stream::new(&setting.hash()), World::In, 0);
//! let mut log = BatchLog::default();
//! for epoch in 0..2 {
//!     for batch in sampler.next_epoch().iter() {
//!         log.push(epoch, 0, None, batch.iter().copied())?;
//!     }
//! }
//! let found = misdeal_diagnose::diagnose(&log, None)?;
//! assert_eq!(found.diagnosis.scheme.to_string(), "shuffle");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each scheme is a law over logs, and the likeliest is named. Schemes that deal each record once are sequences of uniform choices
//! (`choices`): their likelihood is a product, a buffer's size is where the log first becomes possible, and the ranks of what was chosen
//! tell whether the choices were uniform (`rank_tests`). The others are laws of sets (`incidence`). What no scheme is meant to do
//! (copies, padding, dropped records, orders that repeat) is set aside first and reported as a defect.

mod choices;
mod copies;
mod incidence;
mod logged_epochs;
mod orders;
mod p_values;
mod picture;
mod population;
mod rank_tests;
mod schemes;
mod verdict;

pub use logged_epochs::{LoggedEpoch, LoggedEpochs, Uses};
pub use orders::Orders;
pub use population::LargestSize;
pub use schemes::draws_anew;
pub use verdict::compatible;

use incidence::Incidence;
use misdeal_core::Result;
use misdeal_files::batch_log::BatchLog;
use misdeal_results::{Diagnosis, PositionSample};
use schemes::{SchemeEvidence, candidates};

/// A log with its scheme and its defects.
#[derive(Debug, Clone)]
pub struct DiagnosedLog {
    /// Its epochs, with copies set aside.
    pub logged: LoggedEpochs,
    /// The orders of its records; `None` if they are not meant to be dealt once an epoch.
    pub orders: Option<Orders>,
    /// The scheme, and what is wrong.
    pub diagnosis: Diagnosis,
}

impl DiagnosedLog {
    /// Where some of the records were dealt.
    pub fn positions(&self) -> PositionSample {
        picture::sample(&self.logged)
    }
}

/// Names the scheme of a log of `dataset_size` records, on all cores of the current thread pool.
///
/// # Errors
/// A data set that is smaller than the log's largest record says, or far larger than the log.
pub fn diagnose(log: &BatchLog, dataset_size: Option<u64>) -> Result<DiagnosedLog> {
    let (logged, mut defects) = LoggedEpochs::new(log, dataset_size)?;
    let ((orders, found), incidence) = rayon::join(|| Orders::of(&logged), || Incidence::of(&logged));
    defects.extend(found);
    let evidence = SchemeEvidence { logged: &logged, orders: orders.as_ref(), incidence: &incidence };
    let diagnosis = verdict::diagnosis(&logged, orders.as_ref(), candidates(&evidence), defects);
    Ok(DiagnosedLog { logged, orders, diagnosis })
}
