//! Watching a job.

use crate::ClaimOutOfReach;

/// Whoever watches a job: it hears of progress, and may interrupt.
pub trait Progress: Sync {
    /// `done` of `total` observations are played; called from any thread.
    fn observed(&self, done: u64, total: u64);

    /// Whether the job should stop as soon as it can.
    fn is_interrupted(&self) -> bool;

    /// The run that begins cannot refute its claim, whatever comes of it.
    fn cannot_refute(&self, _claim: &ClaimOutOfReach) {}
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn observed(&self, _done: u64, _total: u64) {}

    fn is_interrupted(&self) -> bool {
        false
    }
}
