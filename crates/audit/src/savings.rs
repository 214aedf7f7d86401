//! Saves a store at intervals while it is being filled.

use crate::{Error, Progress, Result};
use misdeal_core::ScoreStore;
use misdeal_files::stores;
use misdeal_game::Watch;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The least time between two savings.
const INTERVAL: Duration = Duration::from_secs(10);
/// Saving may take this share of a run's time at most.
const MOST_OF_THE_TIME: u32 = 20;

/// Stands between a run and whoever watches it: counts observations and saves the store now and then.
pub struct Savings<'a> {
    path: Option<&'a Path>,
    progress: &'a dyn Progress,
    observed: AtomicU64,
    total: u64,
    next: Mutex<Instant>,
}

impl<'a> Savings<'a> {
    /// Watches a run that starts with `observed` of `total` observations.
    pub fn new(path: Option<&'a Path>, progress: &'a dyn Progress, observed: u64, total: u64) -> Self {
        progress.observed(observed, total);
        Savings {
            path,
            progress,
            observed: observed.into(),
            total,
            next: Mutex::new(Instant::now() + INTERVAL),
        }
    }

    /// So many more observations were made, in whichever world.
    pub fn observed(&self, observations: u64) {
        let observed = self.observed.fetch_add(observations, Ordering::Relaxed) + observations;
        self.progress.observed(observed, self.total);
    }

    /// Saves the store now, if it has a place.
    pub fn save(&self, store: &ScoreStore) -> Result<()> {
        if let Some(path) = self.path {
            let start = Instant::now();
            stores::write(path, store)?;
            let pause = INTERVAL.max(start.elapsed() * MOST_OF_THE_TIME);
            *self.next.lock().expect("no thread panics while it holds this") = Instant::now() + pause;
        }
        Ok(())
    }
}

impl Watch for Savings<'_> {
    type Error = Error;

    fn played(&self, trials: u64) {
        self.observed(2 * trials);
    }

    fn is_cancelled(&self) -> bool {
        self.progress.is_interrupted()
    }

    fn rest(&self, store: &ScoreStore) -> Result<()> {
        let due = *self.next.lock().expect("no thread panics while it holds this") <= Instant::now();
        if due { self.save(store) } else { Ok(()) }
    }
}
