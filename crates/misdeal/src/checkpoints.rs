//! Saves a store at intervals while it is being filled.
//!
//! # Why by the clock?
//! Saving by the clock saves slow engines as often as fast ones. Once a save is due, a thread that has played something begins no
//! further chunk. The trials in a store at a given moment depend on the machine. The final content of the store does not.

use crate::{Error, Progress, Result};
use misdeal_core::ScoreStore;
use misdeal_files::stores::Claim;
use misdeal_game::Watch;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Largest share of a run's time for saving, as one part in this many.
const MOST_OF_THE_TIME: u32 = 20;

/// Counts a run's observations, reports them to the watcher, and saves the store at intervals.
pub struct Checkpoints<'a> {
    claim: Option<&'a Claim>,
    progress: &'a dyn Progress,
    observed: AtomicU64,
    total: u64,
    /// The least time between two checkpoints.
    interval: Duration,
    start: Instant,
    /// When the next save is due, in microseconds from the start.
    next: AtomicU64,
}

impl<'a> Checkpoints<'a> {
    /// Watches a run that starts with `observed` of `total` observations.
    pub fn new(claim: Option<&'a Claim>, progress: &'a dyn Progress, observed: u64, total: u64) -> Self {
        progress.observed(observed, total);
        let checkpoints = Checkpoints {
            claim,
            progress,
            observed: observed.into(),
            total,
            interval: Duration::from_secs(10),
            start: Instant::now(),
            next: AtomicU64::new(0),
        };
        checkpoints.postpone(checkpoints.interval);
        checkpoints
    }

    /// Sets another least time between two checkpoints.
    pub fn every(mut self, seconds: f64) -> Self {
        self.interval = Duration::from_secs_f64(seconds);
        self.postpone(self.interval);
        self
    }

    fn postpone(&self, pause: Duration) {
        let next = (self.start.elapsed() + pause).as_micros() as u64;
        self.next.store(next, Ordering::Relaxed);
    }

    fn is_due(&self) -> bool {
        self.claim.is_some() && self.start.elapsed().as_micros() as u64 >= self.next.load(Ordering::Relaxed)
    }

    /// Adds `observations` new observations, from either world.
    pub fn observed(&self, observations: u64) {
        let observed = self.observed.fetch_add(observations, Ordering::Relaxed) + observations;
        self.progress.observed(observed, self.total);
    }

    /// Saves the store now, if it has a file.
    pub fn save(&self, store: &ScoreStore) -> Result<()> {
        if let Some(claim) = self.claim {
            let start = Instant::now();
            claim.write(store)?;
            self.postpone(self.interval.max(start.elapsed() * MOST_OF_THE_TIME));
        }
        Ok(())
    }
}

impl Watch for Checkpoints<'_> {
    type Error = Error;

    fn played(&self, trials: u64) {
        self.observed(2 * trials);
    }

    fn is_cancelled(&self) -> bool {
        self.progress.is_interrupted()
    }

    fn wants_rest(&self) -> bool {
        self.is_due()
    }

    fn rest(&self, store: &ScoreStore) -> Result<()> {
        if self.is_due() { self.save(store) } else { Ok(()) }
    }
}
