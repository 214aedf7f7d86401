//! The fused engine: from random bits to scores for sixteen trials at once, without separate outputs.
//!
//! Polynomials turn a random word into an exponential (`segments.rs`), `kernel.rs` sums exponentials, and `play.rs`
//! turns the sums into scores, as `plan.rs` prescribes. Scores agree with the reference engine's to 1e-5 relative or
//! 1e-6 absolute.
//!
//! # Why do all instruction sets give the same bits?
//! One kernel, written for the trait `lanes::Lanes`, is compiled for AVX-512, for AVX2 and for plain Rust. Every
//! operation is a single IEEE or integer operation, in the same order. So a store from one machine can be finished on
//! another.
#![allow(unsafe_code, reason = "instruction sets are reached through intrinsics")]
#![allow(clippy::wildcard_imports, reason = "an instruction set is imported whole")]
#![allow(clippy::needless_range_loop, reason = "a lane is an index into several arrays")]
#![allow(
    clippy::inline_always,
    reason = "a kernel must be compiled inside the function that enables its instructions"
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod gaussians;
mod kernel;
mod lanes;
mod logarithm;
mod plan;
mod play;
mod portable;
mod segments;

pub use gaussians::Gaussians;

use super::Engine;
use crate::game::Game;
use gaussians::Source;
use lanes::{LANES, Lanes};
use misdeal_core::{ClosedSet, EngineName, STREAM_NAME, Stream, World};
use plan::EnginePlan;
use segments::{FOR_SINGLE_VALUES, Tables};
use std::ops::Range;

type ScoreBlocks = unsafe fn(&EnginePlan, &Stream, World, u64, &mut [[f64; LANES]]);
type FillGaussians = unsafe fn(&Tables<FOR_SINGLE_VALUES>, Source, &mut [f32]);

/// An instruction set in this build. The processor may not have it.
#[derive(Debug, Clone, Copy)]
struct InstructionSet {
    engine_name: EngineName,
    is_available: fn() -> bool,
    score_blocks: ScoreBlocks,
    fill_gaussians: FillGaussians,
}

/// All instruction sets, the fastest first.
const INSTRUCTION_SETS: &[InstructionSet] = &[
    #[cfg(target_arch = "x86_64")]
    InstructionSet {
        engine_name: EngineName::CpuAvx512,
        is_available: avx512::Avx512::is_available,
        score_blocks: avx512::Avx512::score_blocks,
        fill_gaussians: avx512::Avx512::fill_gaussians,
    },
    #[cfg(target_arch = "x86_64")]
    InstructionSet {
        engine_name: EngineName::CpuAvx2,
        is_available: avx2::Avx2::is_available,
        score_blocks: avx2::Avx2::score_blocks,
        fill_gaussians: avx2::Avx2::fill_gaussians,
    },
    InstructionSet {
        engine_name: EngineName::CpuPortable,
        is_available: || true,
        score_blocks: portable::Portable::score_blocks,
        fill_gaussians: portable::Portable::fill_gaussians,
    },
];

/// The fused engines that this processor can run, the fastest first.
pub fn available_names() -> impl Iterator<Item = EngineName> {
    INSTRUCTION_SETS.iter().filter(|set| (set.is_available)()).map(|set| set.engine_name)
}

/// The fused engine on one instruction set.
#[derive(Debug, Clone)]
pub struct Cpu<'a> {
    game: &'a Game,
    plan: EnginePlan,
    instruction_set: InstructionSet,
}

impl<'a> Cpu<'a> {
    /// The engine called `name`, or the fastest for `cpu`.
    ///
    /// # Errors
    /// This processor does not have the instructions, or the engine does not support this game.
    pub fn new(game: &'a Game, name: EngineName) -> Result<Self, String> {
        let instruction_set = *INSTRUCTION_SETS
            .iter()
            .find(|set| (set.is_available)() && (name == EngineName::Cpu || name == set.engine_name))
            .ok_or_else(|| "this processor does not have its instructions".to_owned())?;
        if game.stream.name() != STREAM_NAME {
            return Err(format!("the game has the stream {} of another device", game.stream.name()));
        }
        Ok(Cpu { game, plan: EnginePlan::new(game)?, instruction_set })
    }
}

impl Engine for Cpu<'_> {
    fn name(&self) -> &'static str {
        self.instruction_set.engine_name.name()
    }

    fn lineage(&self) -> &'static str {
        "cpu"
    }

    fn score(&self, world: World, trials: Range<u64>, scores: &mut [f64]) {
        let score_blocks = self.instruction_set.score_blocks;
        let (stream, lanes) = (&self.game.stream, LANES as u64);
        if let (true, (blocks, [])) = (trials.start.is_multiple_of(lanes), scores.as_chunks_mut()) {
            // SAFETY: `new` chose an instruction set that this processor has.
            unsafe { score_blocks(&self.plan, stream, world, trials.start, blocks) }
            return;
        }
        let first = trials.start / lanes * lanes;
        let mut blocks = vec![[0.0; LANES]; (trials.end - first).div_ceil(lanes) as usize];
        // SAFETY: as above.
        unsafe { score_blocks(&self.plan, stream, world, first, &mut blocks) }
        let skipped = (trials.start - first) as usize;
        scores.copy_from_slice(&blocks.as_flattened()[skipped..skipped + scores.len()]);
    }
}
