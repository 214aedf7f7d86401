//! Scores that theory expects of a setting, from which audits with coins are planned.
//!
//! # Why simulated, and not computed?
//! The exact law of the scores is that of the game, whatever the scheme. A fixed seed makes the plan part of the setting: it follows
//! from nothing that is observed.

use crate::Result;
use misdeal_core::{EngineName, Setting, World};
use misdeal_game::{Game, engines};
use misdeal_statistics::coins::Modelled;
use rayon::prelude::*;

/// The seed of every plan.
const SEED: u64 = 0x006d_6973_6465_616c;
/// Gaussian draws that a plan may cost: a fraction of a second.
const MOST_DRAWS: u64 = 30_000_000;
const MOST_SCORES: u64 = 1 << 15;
const FEWEST_SCORES: u64 = 1 << 10;
/// Scores that a thread simulates at a time.
const PORTION: usize = 256;

/// Returns scores of the setting's scheme as it should be, in both worlds.
pub(crate) fn modelled(setting: &Setting) -> Result<Modelled> {
    let game = Game::new(&Setting { seed: SEED, training: None, ..setting.clone() });
    let engine = engines::choose(&game, EngineName::Auto)?;
    let number = (MOST_DRAWS / game.draws_per_trial().max(1)).clamp(FEWEST_SCORES, MOST_SCORES);
    let [scores_in, scores_out] = World::BOTH.map(|world| {
        let mut scores = vec![0.0; number as usize];
        scores.par_chunks_mut(PORTION).enumerate().for_each(|(portion, scores)| {
            let first = (portion * PORTION) as u64;
            engine.score(world, first..first + scores.len() as u64, scores);
        });
        scores
    });
    Ok(Modelled::new(scores_in, scores_out)?)
}
