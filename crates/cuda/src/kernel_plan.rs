//! Which kernel runs a game, and with which parameters.
//!
//! # What is computed in f32, and what in f64?
//! In the kernel for equal weights, f32 serves terms whose errors average out. The target's term, tails and totals
//! are f64. Below noise 1, or with several epochs, one other term may dominate the sums, so the four draws with
//! the largest terms are computed again in f64.
//!
//! Games with fewer than 64 batches, unequal weights or a target in each step run term by term in f64. No game is
//! left to the processor.
//!
//! # Why is 1e-6 promised for every eight epochs?
//! The error of one epoch is mostly independent of the next one's. The largest errors seen against the mirror are
//! 0.6e-6 after one epoch and 1.3e-6 after sixteen. After 509 epochs, where scores reach tens, they are 0.39 of what
//! is allowed (`bench/runs/gpu_training.json`).

use crate::parameters::{
    EACH_STEP, Equal, General, IN_EACH_STEP, KEPT_FOR_ALL_EPOCHS, Key, LISTED, ONCE_AN_EPOCH,
    Positions as PositionParameters, UNIFORM,
};
use crate::{CudaError, Result};
use misdeal_core::World;
use misdeal_game::Game;
use misdeal_schemes::{PositionLaw, Positions};
use std::f64::consts::{LN_2, LOG2_E};

/// Below this noise multiplier the range of f32 does not hold what the fast kernel sums.
const LEAST_FAST_NOISE: f64 = 0.1;
/// Below this noise multiplier one term may dominate the sums, with an exponent whose error in f32 is too large.
const LEAST_PLAIN_NOISE: f64 = 1.0;
/// Below this number of batches the errors of fast functions do not average out below the stated tolerance.
const FEWEST_FAST_BATCHES: u64 = 64;
/// Above this the square of the target's term could leave the range of f64.
const LARGEST_EXPONENT: f64 = 200.1;
/// The largest radius outside the tail: sqrt(2 ln 2^16).
const LARGEST_BODY_RADIUS: f64 = 4.71;
/// The largest exponent of a term in f32, whose square must be summed.
const LARGEST_FAST_EXPONENT: f64 = 40.0;
/// Batches with the target in one epoch, at most (`position.cu`).
pub(crate) const MOST_TARGETS: usize = 64;

/// A game for a kernel; parameters are by world, `In` first.
#[derive(Debug, Clone)]
pub enum KernelPlan {
    /// Every batch has the same weight: f32 with everything that matters in f64 (`equal.cu`).
    Equal {
        /// Which of its variants.
        kind: EqualKind,
        /// What the kernel is told.
        parameters: Box<[Equal; 2]>,
    },
    /// Any game, in f64 (`general.cu`).
    General {
        /// What the kernel is told; addresses are filled in for each device.
        parameters: Box<[General; 2]>,
        /// 2^64 times the distribution function of the target's batch, or of the number of its batches.
        thresholds: Vec<u64>,
        /// ln of the adversary's weight of each batch that is drawn.
        log_weights: Vec<f64>,
    },
}

/// The variants of the fast kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EqualKind {
    /// Whether the adversary compares shifts (2, 1), where squares are needed, or (1, 0).
    pub squares: bool,
    /// Whether the largest terms are computed again in f64.
    pub refined: bool,
}

impl KernelPlan {
    /// The plan for a game with a graphics processor's stream.
    ///
    /// # Errors
    /// Says why it cannot be played.
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

/// Whether the fast kernel needs squares, if it can play the game.
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
    // What the exponentials leave of (a y - a^2/2)/s^2, and of a uniform weight where it does not cancel.
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

/// The world as counters have it.
fn world_bit(world: World) -> u32 {
    u32::from(world == World::Out)
}
