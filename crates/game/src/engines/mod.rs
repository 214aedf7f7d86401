//! Engines: everything that can turn trials into scores.

pub mod cpu;
pub mod reference;

use crate::game::Game;
use misdeal_core::{Error, Result, World};
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
}

/// The names that [`choose`] takes.
pub const NAMES: [&str; 6] = ["auto", "reference", "cpu", "cpu-avx512", "cpu-avx2", "cpu-portable"];

/// The engine called `name`; `auto` is the fastest that can play this game.
///
/// # Errors
/// An unknown name, or an engine that cannot play this game here, with the reason.
pub fn choose<'a>(game: &'a Game, name: &str) -> Result<Box<dyn Engine + 'a>> {
    if !NAMES.contains(&name) {
        return Err(Error::bad_value(
            "engine",
            name,
            format!("one of {}", NAMES.join(", ")),
            "check the spelling",
        ));
    }
    match name {
        "reference" => Ok(Box::new(reference::Reference::new(game))),
        "auto" => Ok(match cpu::Cpu::new(game, "cpu") {
            Ok(engine) => Box::new(engine),
            Err(_) => Box::new(reference::Reference::new(game)),
        }),
        _ => match cpu::Cpu::new(game, name) {
            Ok(engine) => Ok(Box::new(engine)),
            Err(reason) => {
                Err(Error::bad_value("engine", name, "auto or reference", format!("here {reason}")))
            }
        },
    }
}
