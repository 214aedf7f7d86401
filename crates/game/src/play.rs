//! Runs trials on all cores and puts them into a store.

use crate::engines::Engine;
use crate::game::Game;
use misdeal_core::{Error, ScoreStore};
use rayon::prelude::*;
use std::ops::Range;

/// An observer of a run: a progress bar, a saver of stores, or a signal handler.
pub trait Watch: Sync {
    /// The error type of [`rest`](Self::rest). The run's own errors are converted to it.
    type Error: From<Error>;

    /// Called from any core after `trials` more trials have run in both worlds.
    fn played(&self, trials: u64);

    /// Whether the run should end as soon as the current chunks are done.
    fn is_cancelled(&self) -> bool;

    /// Whether a rest is due. Then a thread that has finished a chunk does not start another one before the rest.
    fn wants_rest(&self) -> bool {
        false
    }

    /// Called between stretches, with all trials that have run so far.
    ///
    /// # Errors
    /// An error ends the run and is returned.
    fn rest(&self, store: &ScoreStore) -> Result<(), Self::Error>;
}

/// The way a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All trials have run.
    Finished,
    /// The observer cancelled the run. The store holds the finished chunks.
    Cancelled,
}

/// Runs those of `trials` that `store` does not hold yet, in both worlds.
///
/// It uses all cores of the current thread pool. The resulting store does not depend on the number of cores, or on how
/// trials were split or resumed.
///
/// # Errors
/// A score that is not finite, or the observer's error.
pub fn play<W: Watch>(
    game: &Game,
    engine: &dyn Engine,
    store: &mut ScoreStore,
    trials: Range<u64>,
    watch: &W,
) -> Result<Outcome, W::Error> {
    let portions = engine.portions();
    let trials_per_chunk =
        (portions.draws_per_chunk / game.draws_per_trial()).clamp(16, portions.most_trials_per_chunk) / 16
            * 16;
    let chunks_per_stretch =
        (portions.draws_per_stretch / (trials_per_chunk * game.draws_per_trial())).max(64) as usize;
    loop {
        let missing = missing_trials(trials.clone(), store.trials()).into_iter();
        let stretch: Vec<_> =
            missing.flat_map(|gap| cut(gap, trials_per_chunk)).take(chunks_per_stretch).collect();
        if stretch.is_empty() {
            return Ok(Outcome::Finished);
        }
        let least = stretch.len().div_ceil(portions.most_threads);
        let part = stretch
            .into_par_iter()
            .with_min_len(least)
            .try_fold(
                || store.empty_like(),
                |mut part, chunk| {
                    let has_played = part.observations_per_world() > 0;
                    if !(watch.is_cancelled() || has_played && watch.wants_rest()) {
                        let count = chunk.end - chunk.start;
                        engine.insert(chunk, &mut part)?;
                        watch.played(count);
                    }
                    Ok::<_, Error>(part)
                },
            )
            .try_reduce(
                || store.empty_like(),
                |mut one, other| {
                    one.merge(other)?;
                    Ok(one)
                },
            )?;
        store.merge(part)?;
        watch.rest(store)?;
        if watch.is_cancelled() {
            return Ok(Outcome::Cancelled);
        }
    }
}

/// The parts of `wanted` that `held` does not cover. `held` must be in order.
pub fn missing_trials(wanted: Range<u64>, held: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut gaps = Vec::new();
    let mut start = wanted.start;
    for range in held {
        if start < range.start.min(wanted.end) {
            gaps.push(start..range.start.min(wanted.end));
        }
        start = start.max(range.end);
    }
    if start < wanted.end {
        gaps.push(start..wanted.end);
    }
    gaps
}

/// Pieces of `range` of at most `length`, cut at multiples of `length`.
fn cut(range: Range<u64>, length: u64) -> impl Iterator<Item = Range<u64>> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        let end = ((start / length + 1) * length).min(range.end);
        let piece = (start < end).then_some(start..end);
        start = end;
        piece
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::Portions;
    use crate::engines::reference::Reference;
    use misdeal_core::{STREAM_NAME, Setting, StoreKind, World};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn gaps_and_cuts_cover_exactly_what_is_missing() {
        let gaps = |wanted: Range<u64>, held: &[[u64; 2]]| -> Vec<_> {
            let held: Vec<_> = held.iter().map(|&[start, end]| start..end).collect();
            missing_trials(wanted, &held).iter().map(|gap| [gap.start, gap.end]).collect()
        };
        assert_eq!(gaps(0..100, &[]), [[0, 100]]);
        assert_eq!(gaps(0..100, &[[0, 10], [20, 30], [90, 200]]), [[10, 20], [30, 90]]);
        assert!(gaps(50..60, &[[0, 200]]).is_empty());
        assert_eq!(gaps(50..60, &[[0, 50], [60, 70]]), [[50, 60]]);
        assert_eq!(cut(5..50, 16).collect::<Vec<_>>(), [5..16, 16..32, 32..48, 48..50]);
        assert_eq!(cut(5..5, 16).count(), 0);
    }

    /// A slow device, with a count of the threads that use it at once.
    struct Device<'a> {
        plays: Reference<'a>,
        inside: AtomicUsize,
        most_inside: AtomicUsize,
        chunks: AtomicUsize,
    }

    impl Engine for Device<'_> {
        fn name(&self) -> &'static str {
            "device"
        }

        fn lineage(&self) -> &'static str {
            "device"
        }

        fn score(&self, world: World, trials: Range<u64>, scores: &mut [f64]) {
            let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_inside.fetch_max(inside, Ordering::SeqCst);
            self.chunks.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(1));
            self.plays.score(world, trials, scores);
            self.inside.fetch_sub(1, Ordering::SeqCst);
        }

        fn portions(&self) -> Portions {
            Portions { draws_per_chunk: 64, draws_per_stretch: 0, most_threads: 2, ..Portions::OF_A_CORE }
        }
    }

    /// An observer that rests as often as possible.
    struct Restless(AtomicUsize);

    impl Watch for Restless {
        type Error = Error;

        fn played(&self, _trials: u64) {}

        fn is_cancelled(&self) -> bool {
            false
        }

        fn wants_rest(&self) -> bool {
            true
        }

        fn rest(&self, _store: &ScoreStore) -> Result<(), Error> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    }

    #[test]
    fn a_device_has_no_queue_that_a_rest_would_wait_for() {
        let setting = Setting { steps_per_epoch: 2, batch_size: 2, ..Setting::default() };
        let game = Game::new(&setting);
        let zero = || AtomicUsize::new(0);
        let device =
            Device { plays: Reference::new(&game), inside: zero(), most_inside: zero(), chunks: zero() };
        let mut store = ScoreStore::new(setting, "device", STREAM_NAME, StoreKind::Counts).unwrap();
        let watch = Restless(zero());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(6).build().unwrap();
        let outcome = pool.install(|| play(&game, &device, &mut store, 0..400, &watch)).unwrap();
        assert_eq!((outcome, store.observations_per_world()), (Outcome::Finished, 400));
        assert!(device.most_inside.into_inner() <= 2, "two threads at most");
        // Two threads run one chunk each, in both worlds, before every rest.
        let (chunks, rests) = (device.chunks.into_inner() / 2, watch.0.into_inner());
        assert!(chunks >= 400 / 32 && rests >= chunks / 2, "{chunks} chunks, {rests} rests");
    }
}
