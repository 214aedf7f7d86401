//! The reference engine: slow and simple code in f64. Every other engine is compared with it, trial by trial.

use super::{Engine, Portions};
use crate::game::Game;
use crate::likelihood::log_likelihood_ratio;
use misdeal_core::World;
use misdeal_schemes::Epoch;
use std::ops::Range;

/// An engine that simulates one trial after another: compute the outputs, then the score.
#[derive(Debug, Clone)]
pub struct Reference<'a> {
    game: &'a Game,
}

impl<'a> Reference<'a> {
    /// The reference engine for a game. It supports every game.
    pub fn new(game: &'a Game) -> Self {
        Reference { game }
    }

    /// The recentred outputs of a trial (the paper's Algorithm 5), for one epoch after another.
    pub fn observe(&self, world: World, trial: u64) -> Vec<f64> {
        let game = self.game;
        let per_epoch = game.batches_per_epoch();
        let mut outputs = vec![0.0; game.draws_per_trial() as usize];
        for (epoch, outputs) in (0..game.epochs).zip(outputs.chunks_exact_mut(per_epoch as usize)) {
            let decided_by = if game.position_is_kept() { 0 } else { epoch };
            let when = Epoch { decided_by, of: game.epochs, steps: game.setting.steps_per_epoch };
            let targets = game.positions.in_epoch(&game.stream, world, trial, when);
            let others = game.batches.clone().filter(|batch| targets.binary_search(batch).is_err());
            let with_target = targets.iter().map(|&batch| (batch, game.shift(world)));
            let without = others.map(|batch| (batch, 0.0));
            for (draw, (batch, shift)) in (game.first_draw(epoch)..).zip(with_target.chain(without)) {
                let noise = game.noise_multiplier * game.stream.gaussian(world, trial, draw as u32);
                outputs[(batch - game.batches.start) as usize] = shift + noise;
            }
        }
        outputs
    }
}

impl Engine for Reference<'_> {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn lineage(&self) -> &'static str {
        "reference"
    }

    /// Small chunks, because draws are slow and a run should stop soon after an interruption.
    fn portions(&self) -> Portions {
        Portions { draws_per_chunk: 1 << 15, ..Portions::OF_A_CORE }
    }

    fn score(&self, world: World, trials: Range<u64>, scores: &mut [f64]) {
        for (trial, score) in trials.zip(scores) {
            let outputs = self.observe(world, trial);
            *score = log_likelihood_ratio(
                &self.game.adversary,
                self.game.noise_multiplier,
                &self.game.batches,
                &outputs,
            );
        }
    }
}
