//! The kernels in plain Rust: the same operations in the same order, from the same parameters.
//!
//! It is for tests: what a device computes is wrong if this is wrong, and ordinary machines can run this. Where a kernel calls
//! the device's approximate functions (2^x, log2 and root in f32), the correctly rounded ones stand here, so that a
//! device's scores differ from these within the engine's tolerance and not bit for bit.

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

/// Plays a game as the kernels do, trial after trial.
#[derive(Debug, Clone)]
pub struct Mirror<'a> {
    stream: &'a Stream,
    plan: KernelPlan,
}

impl<'a> Mirror<'a> {
    /// The mirror of the kernel that would play `game`.
    ///
    /// # Errors
    /// As [`KernelPlan::new`].
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
