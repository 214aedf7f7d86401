//! Engines turn trials into scores.
//!
//! # Why does an engine fill the store itself?
//! A device counts its scores on the grid, and only the counts come back ([`Engine::insert`]). A score that is not
//! finite is counted nowhere, and the store refuses tables whose totals are not the number of trials. [`Portions`]
//! says how much work an engine wants at a time.

pub mod cpu;
pub mod reference;

use crate::game::Game;
use misdeal_core::{ClosedSet, EngineName, Error, Result, ScoreStore, World};
use std::ops::Range;

/// Simulates the trials of a game.
///
/// A trial's score is a pure function of the game, the world and the trial's index.
pub trait Engine: Sync {
    /// The engine's name in reports and for `--engine`.
    fn name(&self) -> &'static str;

    /// The family of engines with the same bits; their stores can be merged.
    fn lineage(&self) -> &'static str;

    /// Writes the scores of `trials` in `world`, one for each.
    fn score(&self, world: World, trials: Range<u64>, scores: &mut [f64]);

    /// Simulates `trials` in both worlds and adds them to `store`.
    ///
    /// A device counts its scores itself.
    ///
    /// # Errors
    /// A score is not finite, the store has a trial already, or a device fails.
    fn insert(&self, trials: Range<u64>, store: &mut ScoreStore) -> Result<()> {
        let [scores_in, scores_out] = World::BOTH.map(|world| {
            let mut scores = vec![0.0; (trials.end - trials.start) as usize];
            self.score(world, trials.clone(), &mut scores);
            scores
        });
        store.insert(trials, &scores_in, &scores_out)
    }

    /// How much work the engine takes at a time.
    fn portions(&self) -> Portions {
        Portions::OF_A_CORE
    }
}

/// How a run is split for an engine; the store does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portions {
    /// Gaussian draws in a chunk, the work of one thread between two checks for an interruption.
    pub draws_per_chunk: u64,
    /// Most trials in a chunk.
    pub most_trials_per_chunk: u64,
    /// Gaussian draws between two points where all threads wait for each other.
    pub draws_per_stretch: u64,
    /// Most threads; more would only wait for a device.
    pub most_threads: usize,
}

impl Portions {
    /// For a core: a chunk takes a fraction of a millisecond and fits the cache; a stretch takes a second or two.
    pub const OF_A_CORE: Portions = Portions {
        draws_per_chunk: 1 << 19,
        most_trials_per_chunk: 1 << 13,
        draws_per_stretch: 1 << 33,
        most_threads: usize::MAX,
    };
}

/// The processor's engine of this name; `auto` is the fastest that can play this game.
///
/// # Errors
/// An engine that cannot play this game here, with the reason. That of CUDA devices is made by a crate of its own.
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
