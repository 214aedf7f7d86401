//! The engines, which turn trials into scores.
//!
//! # Why does an engine fill the store itself?
//! A device counts its scores on the grid and returns only the counts ([`Engine::insert`]). A score that is not finite
//! is not counted. The store then refuses the tables, because their totals differ from the number of trials.
//! [`Portions`] says how much work an engine takes at a time.

pub mod cpu;
pub mod reference;

use crate::game::Game;
use misdeal_core::{ClosedSet, EngineName, Error, Result, ScoreStore, World};
use std::ops::Range;

/// Simulates the trials of a game.
///
/// A trial's score is a pure function of the game, the world and the trial's index.
pub trait Engine: Sync {
    /// The engine's name, in reports and for `--engine`.
    fn name(&self) -> &'static str;

    /// The family of engines that give the same bits. Their stores can be merged.
    fn lineage(&self) -> &'static str;

    /// Writes the score of each of `trials` in `world`.
    fn score(&self, world: World, trials: Range<u64>, scores: &mut [f64]);

    /// Simulates `trials` in both worlds and adds them to `store`.
    ///
    /// A device implements this itself and counts its scores.
    ///
    /// # Errors
    /// A score is not finite, a trial is already in the store, or a device fails.
    fn insert(&self, trials: Range<u64>, store: &mut ScoreStore) -> Result<()> {
        let [scores_in, scores_out] = World::BOTH.map(|world| {
            let mut scores = vec![0.0; (trials.end - trials.start) as usize];
            self.score(world, trials.clone(), &mut scores);
            scores
        });
        store.insert(trials, &scores_in, &scores_out)
    }

    /// The amount of work that the engine takes at a time.
    fn portions(&self) -> Portions {
        Portions::OF_A_CORE
    }
}

/// The split of a run for an engine. The resulting store does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portions {
    /// The number of Gaussian draws in a chunk. A thread checks for an interruption after each chunk.
    pub draws_per_chunk: u64,
    /// The largest number of trials in a chunk.
    pub most_trials_per_chunk: u64,
    /// The number of Gaussian draws between two points where all threads wait for each other.
    pub draws_per_stretch: u64,
    /// The largest number of threads. More would only wait for a device.
    pub most_threads: usize,
}

impl Portions {
    /// Portions for a processor core.
    ///
    /// A chunk takes a fraction of a millisecond and fits the cache. A stretch takes a second or two.
    pub const OF_A_CORE: Portions = Portions {
        draws_per_chunk: 1 << 19,
        most_trials_per_chunk: 1 << 13,
        draws_per_stretch: 1 << 33,
        most_threads: usize::MAX,
    };
}

/// The processor's engine called `name`; `auto` is the fastest that supports this game.
///
/// # Errors
/// The engine does not support this game or this machine, with the reason. Another crate makes the engine for CUDA
/// devices.
pub fn choose(game: &Game, name: EngineName) -> Result<Box<dyn Engine + '_>> {
    match name {
        EngineName::Reference => Ok(Box::new(reference::Reference::new(game))),
        EngineName::Auto => Ok(match cpu::Cpu::new(game, EngineName::Cpu) {
            Ok(engine) => Box::new(engine),
            Err(_) => Box::new(reference::Reference::new(game)),
        }),
        _ => match cpu::Cpu::new(game, name) {
            Ok(engine) => Ok(Box::new(engine)),
            Err(reason) => {
                Err(Error::bad_value("engine", name.name(), "auto or reference", format!("here {reason}")))
            }
        },
    }
}
