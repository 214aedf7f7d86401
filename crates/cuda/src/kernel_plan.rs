//! Chooses the kernel for a game, and its parameters.
//!
//! # What is computed in f32, and what in f64?
//! In the kernel for equal weights, terms whose errors average out are computed in f32. The target's term, tails and totals are
//! f64. Below noise 1, or with several epochs, one other term may dominate the sums. Therefore the four draws of the block with
//! the largest term are computed again in f64.
//!
//! Games with fewer than 64 batches, unequal weights, or a target in each step run term by term in f64. No game runs on the CPU
//! instead.
//!
//! # Why is 1e-6 promised for every eight epochs?
//! The errors of different epochs are mostly independent. The largest errors seen against the mirror are 0.6e-6 after one epoch
//! and 1.3e-6 after sixteen. After 509 epochs, where scores reach tens, they are 0.39 of the tolerance
//! (`bench/runs/gpu_training.json`).

use crate::parameters::{
    EACH_STEP, Equal, General, IN_EACH_STEP, KEPT_FOR_ALL_EPOCHS, Key, LISTED, ONCE_AN_EPOCH,
    Positions as PositionParameters, UNIFORM,
};
use crate::{CudaError, Result};
use misdeal_core::World;
use misdeal_game::Game;
use misdeal_schemes::{PositionLaw, Positions};
use std::f64::consts::{LN_2, LOG2_E};

/// Below this noise multiplier, the sums of the fast kernel do not fit the range of f32.
const LEAST_FAST_NOISE: f64 = 0.1;
/// Below this noise multiplier, one term may dominate the sums, and the error of its exponent in f32 is too large.
const LEAST_PLAIN_NOISE: f64 = 1.0;
/// Below this number of batches, the errors of the fast functions do not average out enough for the promised tolerance.
const FEWEST_FAST_BATCHES: u64 = 64;
/// Above this exponent, the square of the target's term could exceed the range of f64.
const LARGEST_EXPONENT: f64 = 200.1;
/// The largest radius outside the tail: sqrt(2 ln 2^16).
const LARGEST_BODY_RADIUS: f64 = 4.71;
/// The largest exponent of a term in f32; squares of terms are summed too.
const LARGEST_FAST_EXPONENT: f64 = 40.0;
/// The largest number of batches with the target in one epoch (`position.cu`).
pub(crate) const MOST_TARGETS: usize = 64;

/// The kernel for a game, with its parameters for both worlds (`In` first).
#[derive(Debug, Clone)]
pub enum KernelPlan {
    /// A game in which every batch has the same weight: f32, with f64 for the terms that need it (`equal.cu`).
    Equal {
        /// The variant of the kernel.
        kind: EqualKind,
        /// The kernel's parameters.
        parameters: Box<[Equal; 2]>,
    },
    /// Any game, in f64 (`general.cu`).
    General {
        /// The kernel's parameters; addresses are filled in for each device.
        parameters: Box<[General; 2]>,
        /// 2^64 times a distribution function: of the target's batch, or of the number of batches with the target.
        thresholds: Vec<u64>,
        /// Logarithm of the adversary's weight of each drawn batch.
        log_weights: Vec<f64>,
    },
}

/// The variants of the fast kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EqualKind {
    /// Whether the adversary compares the shifts (2, 1), which needs squares, or (1, 0).
    pub squares: bool,
    /// Whether the block with the largest term is computed again in f64.
    pub refined: bool,
}

impl KernelPlan {
    /// Makes the plan for a game with a GPU's random stream.
    ///
    /// # Errors
    /// No kernel can simulate this game; the error says why.
    pub fn new(game: &Game) -> Result<Self> {
        let [low, high] = game.stream.philox_key().ok_or(CudaError::WrongStream)?;
        let key = Key { low, high };
        if game.first_draw(game.epochs) > 1 << 32 {
            return Err(CudaError::TooManyDraws);
        }
        match equal_squares(game) {
            Some(squares) => {
                let refined = game.noise_multiplier < LEAST_PLAIN_NOISE || game.epochs > 1;
                let kind = EqualKind { squares, refined };
                let parameters = Box::new(World::BOTH.map(|world| equal(game, key, squares, world)));
                Ok(KernelPlan::Equal { kind, parameters })
            }
            None => general(game, key),
        }
    }
}

/// Whether the fast kernel needs squares; `None` if it cannot simulate this game.
fn equal_squares(game: &Game) -> Option<bool> {
    let weights = |law: &PositionLaw| match law {
        PositionLaw::OnceAnEpoch(weights) | PositionLaw::KeptForAllEpochs(weights) => Some(weights.clone()),
        PositionLaw::EachStep { .. } => None,
    };
    let sums_over_epochs = matches!(game.adversary.law, PositionLaw::KeptForAllEpochs(_)) && game.epochs > 1;
    let (ours, theirs) = (weights(&game.mechanism.law)?, weights(&game.adversary.law)?);
    let s = game.noise_multiplier;
    let fits = ours == theirs
        && ours.is_uniform()
        && !sums_over_epochs
        && s >= LEAST_FAST_NOISE
        && game.mechanism.shifts.present / (s * s) <= LARGEST_EXPONENT
        && game.batches_per_epoch() >= FEWEST_FAST_BATCHES;
    match game.adversary.shifts.present {
        2.0 if fits => Some(true),
        1.0 if fits => Some(false),
        _ => None,
    }
}

fn equal(game: &Game, key: Key, squares: bool, world: World) -> Equal {
    let s = game.noise_multiplier;
    let precision = 1.0 / (s * s);
    let lowered_by = (LARGEST_BODY_RADIUS / s - LARGEST_FAST_EXPONENT).max(0.0);
    // The part of (a y - a^2/2)/s^2 that the exponentials do not contain, and the uniform weight where it does not cancel.
    let constant = if squares {
        -1.5 * precision
    } else {
        -0.5 * precision - libm::log(game.batches_per_epoch() as f64)
    };
    Equal {
        inverse_noise: 1.0 / s,
        target_exponent: game.shift(world) * precision - lowered_by,
        lowered_by,
        constant: constant + lowered_by,
        key,
        world: world_bit(world),
        epochs: game.epochs as u32,
        batches: game.batches_per_epoch() as u32,
        scale: (2.0 * LN_2 * (LOG2_E / s) * (LOG2_E / s)) as f32,
        offset: (lowered_by * LOG2_E) as f32,
    }
}

fn general(game: &Game, key: Key) -> Result<KernelPlan> {
    let (law, first, count, thresholds) = match &game.positions {
        Positions::Uniform { first, count } => (UNIFORM, first - game.batches.start, *count, vec![]),
        Positions::Listed { first, thresholds } => {
            (LISTED, first - game.batches.start, 0, thresholds.clone())
        }
        Positions::EachStep { thresholds } => (EACH_STEP, 0, 0, thresholds.clone()),
    };
    if law == EACH_STEP && thresholds.len() > MOST_TARGETS {
        return Err(CudaError::TooManyTargets(MOST_TARGETS));
    }
    let positions = PositionParameters {
        thresholds: 0,
        first,
        count,
        thresholds_length: thresholds.len() as u64,
        steps: game.setting.steps_per_epoch,
        epochs: game.epochs,
        law,
        kept: game.position_is_kept().into(),
    };
    let (adversary, probability, log_weights) = match &game.adversary.law {
        PositionLaw::EachStep { probability } => (IN_EACH_STEP, *probability, vec![]),
        PositionLaw::OnceAnEpoch(weights) | PositionLaw::KeptForAllEpochs(weights) => {
            let kept = matches!(game.adversary.law, PositionLaw::KeptForAllEpochs(_)) && game.epochs > 1;
            let logs = game.batches.clone().map(|batch| libm::log(weights.weight(batch))).collect();
            (if kept { KEPT_FOR_ALL_EPOCHS } else { ONCE_AN_EPOCH }, 0.0, logs)
        }
    };
    let s = game.noise_multiplier;
    let parameters = Box::new(World::BOTH.map(|world| General {
        log_weights: 0,
        positions,
        noise: s,
        shift: game.shift(world),
        present: game.adversary.shifts.present,
        zeroed: game.adversary.shifts.zeroed,
        precision: 1.0 / (s * s),
        probability,
        key,
        world: world_bit(world),
        epochs: game.epochs as u32,
        batches: game.batches_per_epoch() as u32,
        adversary,
    }));
    Ok(KernelPlan::General { parameters, thresholds, log_weights })
}

/// The world as a bit, as in the stream's counters.
fn world_bit(world: World) -> u32 {
    u32::from(world == World::Out)
}
