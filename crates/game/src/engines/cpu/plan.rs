//! The plan of a game for the fused engine.
//!
//! # Which games are left to the reference?
//! - The noise of an output is below 0.1.
//! - Batch-then-shuffle in the worst case: the target shifts its batch by 2B.
//! - The adversary sums outputs over epochs, but the target does not stay in one batch.
//! - The target joins each step independently, and the noise is below 0.3 or the adversary assumes another kind of
//!   scheme.
//!
//! `--engine auto` then uses the reference engine, and the report names the engine that ran.

use super::segments::{FOR_SINGLE_VALUES, FOR_SUMS, Segments};
use crate::game::Game;
use crate::target_model::Shifts;
use misdeal_core::World;
use misdeal_schemes::{PositionLaw, Positions};

/// Below this noise multiplier the square of the target's exponential could leave f64's range.
const LEAST_NOISE: f64 = 0.1;
/// Above this exponent the factor of the target's exponential could leave f64's range.
const LARGEST_EXPONENT: f64 = 200.1;
/// Below this noise multiplier a product of a few likelihood ratios could leave f64's range.
const LEAST_NOISE_FOR_PRODUCTS: f64 = 0.3;
/// From this noise multiplier on, exponentials are near one, and their distance from one is stored.
const LEAST_NOISE_FOR_OFFSET: f64 = 2.0;

/// The constants and tables of a game for this engine.
#[derive(Debug, Clone)]
pub struct EnginePlan {
    /// The exponentials of the target's noise, to full relative precision.
    pub target: Segments<FOR_SINGLE_VALUES>,
    /// The exponentials of all other noise.
    pub others: Segments<FOR_SUMS>,
    pub epochs: u32,
    pub batches_per_epoch: u32,
    /// The factor of the target's exponential, exp(shift / s^2), in the worlds `In` and (next field) `Out`.
    pub factor_in: f64,
    pub factor_out: f64,
    /// Whether the adversary compares shifts (2, 1), which needs squares, or (1, 0).
    pub squares: bool,
    /// A constant that is added to the score for every epoch.
    pub constant: f64,
    pub law: Law,
}

/// How the score depends on the target's position.
#[derive(Debug, Clone)]
pub enum Law {
    /// The score does not depend on the target's position: every batch has the same weight for the adversary.
    Equal,
    /// The score depends on the weight of the target's batch.
    Weighted(WeightedLaw),
    /// The target joins each step independently.
    EachStep(EachStepLaw),
}

#[derive(Debug, Clone)]
pub struct WeightedLaw {
    /// The adversary's weight of each drawn batch.
    pub weights: Vec<f64>,
    pub positions: Positions,
    pub first_batch: u64,
    /// Whether the first epoch's position is used in all epochs.
    pub kept: bool,
}

#[derive(Debug, Clone)]
pub struct EachStepLaw {
    pub positions: Positions,
    /// The probability 1 - q.
    pub absent: f64,
    /// The factors of u and u^2: q e^(-1/(2 s^2)) and q e^(-2/s^2).
    pub present: [f64; 2],
}

impl EnginePlan {
    /// The plan for a game, or the reason why only the reference engine supports it.
    pub fn new(game: &Game) -> Result<Self, String> {
        let s = game.noise_multiplier;
        let precision = 1.0 / (s * s);
        let squares = match game.adversary.shifts {
            Shifts { present: 2.0, .. } => true,
            Shifts { present: 1.0, .. } => false,
            Shifts { present, .. } => return Err(format!("the adversary looks for a shift of {present}")),
        };
        if s < LEAST_NOISE {
            return Err(format!("the noise of an output is {s}, below {LEAST_NOISE}"));
        }
        if game.mechanism.shifts.present * precision > LARGEST_EXPONENT {
            return Err("the target's shift is too large for single precision".into());
        }
        let once = |law: &PositionLaw| match law {
            PositionLaw::OnceAnEpoch(weights) | PositionLaw::KeptForAllEpochs(weights) => {
                Some(weights.clone())
            }
            PositionLaw::EachStep { .. } => None,
        };
        let law = match (&game.mechanism.law, &game.adversary.law) {
            (PositionLaw::EachStep { probability: q }, PositionLaw::EachStep { .. })
                if s >= LEAST_NOISE_FOR_PRODUCTS =>
            {
                Law::EachStep(EachStepLaw {
                    positions: game.positions.clone(),
                    absent: 1.0 - q,
                    present: [q * libm::exp(-0.5 * precision), q * libm::exp(-2.0 * precision)],
                })
            }
            (_, PositionLaw::KeptForAllEpochs(_)) if game.epochs > 1 => {
                return Err("the adversary sums outputs over epochs".into());
            }
            (mechanism, adversary) => match (once(mechanism), once(adversary)) {
                (Some(ours), Some(theirs)) if ours == theirs && ours.is_uniform() => Law::Equal,
                (Some(_), Some(theirs)) => Law::Weighted(WeightedLaw {
                    weights: game.batches.clone().map(|batch| theirs.weight(batch)).collect(),
                    positions: game.positions.clone(),
                    first_batch: game.batches.start,
                    kept: game.position_is_kept(),
                }),
                _ => return Err("the target may be in any number of batches".into()),
            },
        };
        // The part of (a y - a^2/2)/s^2 that the exponentials do not contain, and a uniform weight if it does not
        // cancel.
        let constant = match &law {
            Law::EachStep(_) => 0.0,
            _ if squares => -1.5 * precision,
            Law::Weighted(_) => -0.5 * precision,
            Law::Equal => -0.5 * precision - libm::log(game.batches_per_epoch() as f64),
        };
        Ok(EnginePlan {
            target: Segments::for_single_values(s),
            others: Segments::for_sums(s, s >= LEAST_NOISE_FOR_OFFSET),
            epochs: game.epochs as u32,
            batches_per_epoch: game.batches_per_epoch() as u32,
            factor_in: libm::exp(game.shift(World::In) * precision),
            factor_out: libm::exp(game.shift(World::Out) * precision),
            squares,
            constant,
            law,
        })
    }
}
