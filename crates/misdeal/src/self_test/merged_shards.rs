//! Shards, merged in any order, are the whole run.

use super::Found;
use crate::{EngineChoice, MechanismRequest, RunRequest, Unwatched, play_part};
use misdeal_core::ClosedSet;
use misdeal_core::{ScoreStore, Setting, StoreKind, World};

const TRIALS: u64 = 20_000;

pub(super) fn check(seed: u64) -> Found {
    for kind in [StoreKind::Counts, StoreKind::Exact] {
        let run = RunRequest { scores: kind, ..RunRequest::new(2 * TRIALS) };
        let setting = Setting { seed, steps_per_epoch: 20, ..Setting::default() };
        let request = MechanismRequest { setting, engine: EngineChoice::named("cpu"), run };
        let part = |trials| play_part(&request, trials, &Unwatched).map_err(super::told);
        let whole = part(0..TRIALS)?;
        let mut merged = part(15_000..TRIALS)?;
        for trials in [0..7_001, 9_000..15_000, 7_001..9_000] {
            merged.merge(part(trials)?).map_err(super::told)?;
        }
        if merged.to_bytes() != whole.to_bytes() {
            return Err(format!("four shards of {} differ from the whole run", kind.name()));
        }
        recounted(&merged)?;
        let again = part(100..101)?;
        if merged.merge(again).is_ok() {
            return Err("a trial was counted twice".into());
        }
    }
    Ok(format!(
        "four shards of {TRIALS} trials are the whole run, as counts and exactly; a shard given twice is refused"
    ))
}

/// A store has as many scores as trials, in each world and half.
fn recounted(store: &ScoreStore) -> Result<(), String> {
    for world in World::BOTH {
        for odd in [false, true] {
            let Some(counts) = store.bin_counts(world, odd) else { continue };
            let counted = counts.from_bin_up(0);
            if counted != TRIALS / 2 {
                return Err(format!("{counted} scores {world:?} in one half, not {}", TRIALS / 2));
            }
        }
    }
    Ok(())
}
