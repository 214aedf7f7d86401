//! Finds the scheme that made the batches of a log, and defects in the log.
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
//! Each scheme is a probability law over logs; the most likely scheme is named.
//!
//! Schemes that use each record once are sequences of uniform choices (`choices`). Their likelihood is a product. The estimated
//! buffer size is the smallest at which the log is possible. The ranks of the chosen records show whether the choices were
//! uniform (`rank_tests`). The other schemes are laws of sets (`incidence`).
//!
//! Copies, padding, dropped records and repeated orders are not part of any scheme. They are removed first and reported as
//! defects.

mod batch_sizes;
mod choices;
mod companions;
mod copies;
mod counting;
mod hints;
mod incidence;
mod logged_epochs;
mod long_enough;
mod orders;
mod p_values;
mod picture;
mod places;
mod population;
mod rank_tests;
mod ranks_together;
mod restarts;
mod schemes;
mod structure;
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

/// A log with its diagnosed scheme and its defects.
#[derive(Debug, Clone)]
pub struct DiagnosedLog {
    /// The log's epochs, without copies.
    pub logged: LoggedEpochs,
    /// The order of the records in each epoch; `None` if the log does not use records once an epoch.
    pub orders: Option<Orders>,
    /// The scheme and the defects.
    pub diagnosis: Diagnosis,
}

impl DiagnosedLog {
    /// Positions of a sample of the records, for a plot.
    pub fn positions(&self) -> PositionSample {
        picture::sample(&self.logged)
    }
}

/// Diagnoses a log of `dataset_size` records, on all cores of the current thread pool.
///
/// # Errors
/// `dataset_size` is not above the log's largest record, or the data set is far larger than the log.
pub fn diagnose(log: &BatchLog, dataset_size: Option<u64>) -> Result<DiagnosedLog> {
    let from_zero;
    let mut shifted = None;
    let log = if let Some(defect) = counting::from_one(log, dataset_size) {
        from_zero = {
            let mut log = log.clone();
            log.count_from_zero();
            log
        };
        shifted = Some(defect);
        &from_zero
    } else {
        log
    };
    let (logged, mut defects) = LoggedEpochs::new(log, dataset_size)?;
    defects.extend(shifted);
    let ((orders, found), incidence) = rayon::join(|| Orders::of(&logged), || Incidence::of(&logged));
    defects.extend(found);
    let evidence = SchemeEvidence::new(&logged, orders.as_ref(), &incidence);
    let mut diagnosis = verdict::diagnosis(&evidence, candidates(&evidence), defects);
    diagnosis.remarks = log.remarks().to_vec();
    Ok(DiagnosedLog { logged, orders, diagnosis })
}
