//! The kernels in plain Rust: the same operations in the same order, with the same parameters.
//!
//! The mirror is for tests on machines without a GPU. If it is wrong, the device's results are wrong too. Where a kernel calls the
//! device's approximate functions (2^x, log2 and root in f32), the mirror uses correctly rounded ones. A device's scores therefore
//! agree with the mirror within the engine's tolerance, not bit for bit.

mod equal;
mod general;
mod noise;

use crate::Result;
use crate::kernel_plan::KernelPlan;
use misdeal_core::{Stream, World};
use misdeal_game::Game;
use misdeal_game::engines::Engine;
use noise::Trial;
use std::ops::Range;

/// Simulates a game as the kernels do, trial by trial.
#[derive(Debug, Clone)]
pub struct Mirror<'a> {
    stream: &'a Stream,
    plan: KernelPlan,
}

impl<'a> Mirror<'a> {
    /// Creates the mirror of the kernel for `game`.
    ///
    /// # Errors
    /// As for [`KernelPlan::new`].
    pub fn new(game: &'a Game) -> Result<Self> {
        Ok(Mirror { stream: &game.stream, plan: KernelPlan::new(game)? })
    }
}

impl Engine for Mirror<'_> {
    fn name(&self) -> &'static str {
        "cuda-mirror"
    }

    fn lineage(&self) -> &'static str {
        "cuda-mirror"
    }

    fn score(&self, world: World, trials: Range<u64>, scores: &mut [f64]) {
        for (index, score) in trials.zip(scores) {
            let trial = Trial { stream: self.stream, world, index };
            *score = match &self.plan {
                KernelPlan::Equal { kind, parameters } => {
                    equal::score(&parameters[world as usize], *kind, trial)
                }
                KernelPlan::General { parameters, thresholds, log_weights } => {
                    general::Tables { game: &parameters[world as usize], thresholds, log_weights }
                        .score(trial)
                }
            };
        }
    }
}
