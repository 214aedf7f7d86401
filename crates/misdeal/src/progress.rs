//! Watching a job.

use crate::ClaimOutOfReach;

/// Whoever watches a job: it hears of progress, and may interrupt.
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
    /// `done` of `total` observations are played; called from any thread.
    fn observed(&self, done: u64, total: u64);

    /// Whether the job should stop as soon as it can.
    fn is_interrupted(&self) -> bool;

    /// The run that begins cannot refute its claim, whatever comes of it.
    fn cannot_refute(&self, _claim: &ClaimOutOfReach) {}
}

/// Nobody watches.
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
