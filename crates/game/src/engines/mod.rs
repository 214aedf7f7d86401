//! Engines: everything that can turn trials into scores.
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

/// Plays a game. A trial's score is a pure function of the game, the world and the trial's index, whatever else is asked
/// for in the same call.
pub trait Engine: Sync {
    /// The engine's name in reports and for `--engine`.
    fn name(&self) -> &'static str;

    /// The family of engines that give the same bits; stores of one lineage may be merged.
    fn lineage(&self) -> &'static str;

    /// Writes the scores of `trials` in `world`, one for each.
    fn score(&self, world: World, trials: Range<u64>, scores: &mut [f64]);

    /// Plays `trials` in both worlds into `store`. An engine that counts where it computes does that here.
    ///
    /// # Errors
    /// A score that is not finite, trials that are there already, or a device that fails.
    fn insert(&self, trials: Range<u64>, store: &mut ScoreStore) -> Result<()> {
        let [scores_in, scores_out] = World::BOTH.map(|world| {
            let mut scores = vec![0.0; (trials.end - trials.start) as usize];
            self.score(world, trials.clone(), &mut scores);
            scores
        });
        store.insert(trials, &scores_in, &scores_out)
    }

    /// How much work it wants at a time.
    fn portions(&self) -> Portions {
        Portions::OF_A_CORE
    }
}

/// How a run is cut for an engine. What ends up in a store does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portions {
    /// Gaussian draws in a chunk, the unit of work that one thread asks for and that an interruption waits for.
    pub draws_per_chunk: u64,
    /// Trials in a chunk at most.
    pub most_trials_per_chunk: u64,
    /// Gaussian draws between two meetings of all threads.
    pub draws_per_stretch: u64,
    /// Threads that play at a time, at most: more would only wait for a device, and whoever interrupts or saves would wait for them.
    pub most_threads: usize,
}

impl Portions {
    /// A chunk is a fraction of a millisecond for a fused engine, so that scores stay in the cache and an interruption is
    /// heeded at once, even by the reference engine; a stretch is a second or two.
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
