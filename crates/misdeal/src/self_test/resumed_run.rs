//! A run that is interrupted and resumed, from the disk, ends as one that was not.

use super::Found;
use crate::{EngineChoice, MechanismRequest, Progress, RunRequest, Unwatched, measure_mechanism};
use misdeal_core::Setting;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

/// Interrupts a run after some observations.
struct Impatient {
    observed: AtomicU64,
    most: u64,
}

impl Progress for Impatient {
    fn observed(&self, done: u64, _total: u64) {
        self.observed.fetch_max(done, Ordering::Relaxed);
    }

    fn is_interrupted(&self) -> bool {
        self.observed.load(Ordering::Relaxed) >= self.most
    }
}

pub(super) fn check(seed: u64) -> Found {
    const OBSERVATIONS: u64 = 400_000;
    let folder = tempfile::tempdir().map_err(super::told)?;
    let [whole, parts] = ["whole.store", "parts.store"].map(|name| folder.path().join(name));
    let request = |store: &std::path::Path| {
        let run = RunRequest { store: Some(store.into()), resume: true, ..RunRequest::new(OBSERVATIONS) };
        let setting = Setting { seed, steps_per_epoch: 20, ..Setting::default() };
        MechanismRequest { setting, engine: EngineChoice::named("cpu"), run }
    };
    let undisturbed = measure_mechanism(&request(&whole), &Unwatched).map_err(super::told)?;
    let mut interruptions = 0;
    let measured = loop {
        let most = (interruptions + 1) * OBSERVATIONS / 4;
        match measure_mechanism(&request(&parts), &Impatient { observed: 0.into(), most }) {
            Ok(measured) => break measured,
            Err(error) if error.is_interrupted() && interruptions < 4 => interruptions += 1,
            Err(error) => return Err(error.to_string()),
        }
        if interruptions == 4 {
            break measure_mechanism(&request(&parts), &Unwatched).map_err(super::told)?;
        }
    };
    if measured.estimate != undisturbed.estimate {
        return Err("the resumed run's estimate is another".into());
    }
    if fs::read(&whole).map_err(super::told)? != fs::read(&parts).map_err(super::told)? {
        return Err("the resumed run's store differs from the undisturbed one's".into());
    }
    Ok(format!(
        "{OBSERVATIONS} observations with {interruptions} interruptions leave the same store and estimate"
    ))
}
