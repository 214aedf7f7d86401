//! Reports a job's progress to a watcher.

use crate::ClaimOutOfReach;

/// A watcher of a job. A watcher receives the progress and may interrupt the job.
///
/// ```
/// use misdeal::{Progress, Setting};
/// struct Impatient;
/// impl Progress for Impatient {
///     fn observed(&self, _done: u64, _total: u64) {}
///     fn is_interrupted(&self) -> bool {
///         true
///     }
/// }
/// assert!(Setting::new(1.0).audit().play(&Impatient).unwrap_err().is_interrupted());
/// ```
pub trait Progress: Sync {
    /// Receives that `done` of `total` observations are played. Any thread may call this method.
    fn observed(&self, done: u64, total: u64);

    /// Returns whether the job should stop as soon as it can.
    fn is_interrupted(&self) -> bool;

    /// Receives that the starting run cannot refute its claim, whatever its outcome.
    fn cannot_refute(&self, _claim: &ClaimOutOfReach) {}
}

/// A watcher that ignores progress and never interrupts.
///
/// [`measure_mechanism`](crate::measure_mechanism) has an example.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn observed(&self, _done: u64, _total: u64) {}

    fn is_interrupted(&self) -> bool {
        false
    }
}
