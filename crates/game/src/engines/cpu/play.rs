//! From sums of exponentials to scores, sixteen trials at a time.

use super::kernel::{Block, Sums, Workspace};
use super::lanes::{LANES, Lanes};
use super::logarithm::ln;
use super::segments::{FOR_SINGLE_VALUES, FOR_SUMS, Segments};
use crate::game::Game;
use crate::position_law::PositionLaw;
use crate::positions::Positions;
use crate::target_model::Shifts;
use misdeal_core::{Stream, World};

/// Below this noise multiplier the square of the target's exponential could leave the range of f64.
pub const LEAST_NOISE: f64 = 0.1;
/// Below this noise multiplier a product of a few likelihood ratios could leave the range of f64.
const LEAST_NOISE_FOR_PRODUCTS: f64 = 0.3;
/// Likelihood ratios multiplied before the logarithm is taken.
const PRODUCT_LENGTH: u32 = 4;
/// Blocks that are finished together.
const GROUP: usize = 4;
/// From this noise multiplier on, exponentials are near one and are kept as their distance from it.
const LEAST_NOISE_FOR_OFFSET: f64 = 2.0;

/// A game as this engine plays it.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Exponentials of the target's noise, to full relative precision.
    target: Segments<FOR_SINGLE_VALUES>,
    /// Exponentials of all other noise.
    others: Segments<FOR_SUMS>,
    epochs: u32,
    batches_per_epoch: u32,
    /// exp(shift / s^2) in each world: the factor of the target's exponential.
    factor_in: f64,
    factor_out: f64,
    /// Whether the adversary compares shifts (2, 1), where squares are needed, or (1, 0).
    squares: bool,
    /// Added to the score for every epoch.
    constant: f64,
    law: Law,
}

/// How the score depends on the target's position.
#[derive(Debug, Clone)]
enum Law {
    /// Not at all: every batch has the same weight for the adversary.
    Equal,
    /// Through the weight of its batch.
    Weighted(WeightedLaw),
    /// The target is in each step independently.
    EachStep(EachStepLaw),
}

#[derive(Debug, Clone)]
struct WeightedLaw {
    /// The adversary's weight of each batch drawn.
    weights: Vec<f64>,
    positions: Positions,
    first_batch: u64,
    /// Whether the first epoch's position holds for all.
    kept: bool,
}

#[derive(Debug, Clone)]
struct EachStepLaw {
    positions: Positions,
    /// 1 - q.
    absent: f64,
    /// q e^(-1/(2 s^2)) and q e^(-2/s^2), the factors of u and u^2.
    present: [f64; 2],
}

impl Plan {
    /// The plan for a game, or the reason why only the reference engine can play it.
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
        if game.mechanism.shifts.present * precision > 200.1 {
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
        // What the exponentials leave of (a y - a^2/2)/s^2, and of a uniform weight where it does not cancel.
        let constant = match &law {
            Law::EachStep(_) => 0.0,
            _ if squares => -1.5 * precision,
            Law::Weighted(_) => -0.5 * precision,
            Law::Equal => -0.5 * precision - libm::log(game.batches_per_epoch() as f64),
        };
        Ok(Plan {
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

/// The scores of blocks of sixteen trials, from `first_trial` on, which is a multiple of sixteen.
///
/// # Safety
/// The processor has the instruction set of `L`, and this is inlined into a function compiled for it.
#[inline(always)]
pub unsafe fn score_blocks<L: Lanes>(
    plan: &Plan,
    stream: &Stream,
    world: World,
    first_trial: u64,
    scores: &mut [[f64; LANES]],
) {
    let factor = match world {
        World::In => plan.factor_in,
        World::Out => plan.factor_out,
    };
    // SAFETY: the caller has the instruction set.
    unsafe {
        let target = Workspace::new(&plan.target, stream);
        let others = Workspace::new(&plan.others, stream);
        let mut player = Player::<L> { plan, factor, target, others };
        for (first_trial, scores) in (first_trial..).step_by(GROUP * LANES).zip(scores.chunks_mut(GROUP)) {
            scores.fill([0.0; LANES]);
            let first_block = Block { stream, world, first_trial };
            for epoch in 0..plan.epochs {
                player.add_epoch(first_block, epoch, scores);
            }
        }
    }
}

/// One world's player on one instruction set.
struct Player<'a, L: Lanes> {
    plan: &'a Plan,
    /// The factor of the target's exponential in this world.
    factor: f64,
    target: Workspace<L, FOR_SINGLE_VALUES>,
    others: Workspace<L, FOR_SUMS>,
}

impl<L: Lanes> Player<'_, L> {
    /// Adds an epoch's part of the log-likelihood ratio to the scores of neighbouring blocks.
    ///
    /// In three sweeps over the blocks, so that the processor finds independent work in each.
    #[inline(always)]
    unsafe fn add_epoch(&mut self, first_block: Block, epoch: u32, scores: &mut [[f64; LANES]]) {
        let block = |i: usize| first_block.neighbour(i);
        let mut parts = [Sums::ZERO; GROUP];
        for (i, part) in parts[..scores.len()].iter_mut().enumerate() {
            // SAFETY: the caller has the instruction set.
            *part = unsafe {
                match &self.plan.law {
                    Law::Equal => self.equal_sums(block(i), epoch),
                    Law::Weighted(law) => self.weighted_sums(law, block(i), epoch),
                    Law::EachStep(law) => {
                        let logs = self.each_step_logs(law, block(i), epoch);
                        scores[i].iter_mut().zip(logs).for_each(|(score, log)| *score += log);
                        continue;
                    }
                }
            };
        }
        match &self.plan.law {
            Law::EachStep(_) => return,
            Law::Weighted(_) => {}
            Law::Equal => {
                for (i, part) in parts[..scores.len()].iter_mut().enumerate() {
                    let draw = epoch * self.plan.batches_per_epoch;
                    // SAFETY: the caller has the instruction set.
                    let targets = unsafe { self.target.draw(&self.plan.target, block(i), draw) };
                    for lane in 0..LANES {
                        part.add(lane, 1.0, self.factor * targets[lane]);
                    }
                }
            }
        }
        for (score, part) in scores.iter_mut().zip(&parts) {
            let logs = log_ratio(part, self.plan.squares);
            for lane in 0..LANES {
                score[lane] += logs[lane] + self.plan.constant;
            }
        }
    }

    /// Sums of u and u^2 over the batches without the target.
    #[inline(always)]
    unsafe fn equal_sums(&mut self, block: Block, epoch: u32) -> Sums {
        let first_draw = epoch * self.plan.batches_per_epoch + 1;
        // SAFETY: the caller has the instruction set.
        unsafe { sum(&mut self.others, self.plan, block, first_draw, self.plan.batches_per_epoch - 1) }
    }

    /// Sums of w u and w u^2 over all batches.
    #[inline(always)]
    unsafe fn weighted_sums(&mut self, law: &WeightedLaw, block: Block, epoch: u32) -> Sums {
        let first_draw = epoch * self.plan.batches_per_epoch;
        let decided_by = if law.kept { 0 } else { epoch };
        let at = block.positions(decided_by, |bits| law.positions.batch(bits) - law.first_batch);
        let mut sums = Sums::ZERO;
        // SAFETY: the caller has the instruction set.
        let targets = unsafe { self.target.draw(&self.plan.target, block, first_draw) };
        for lane in 0..LANES {
            sums.add(lane, law.weights[at[lane] as usize], self.factor * targets[lane]);
        }
        for (other, pair) in law.weights.windows(2).enumerate() {
            // SAFETY: the caller has the instruction set.
            let values = unsafe { self.others.draw(&self.plan.others, block, first_draw + 1 + other as u32) };
            for lane in 0..LANES {
                // The batches without the target follow in order: those after it are one further on.
                sums.add(lane, pair[usize::from(other as u64 >= at[lane])], values[lane]);
            }
        }
        sums
    }

    /// sum over steps of ln(1 - q + q e^(-2/s^2) u^2) - ln(1 - q + q e^(-1/(2 s^2)) u), or of the latter alone.
    #[inline(always)]
    unsafe fn each_step_logs(&mut self, law: &EachStepLaw, block: Block, epoch: u32) -> [f64; LANES] {
        let first_draw = epoch * self.plan.batches_per_epoch;
        let inclusions = block.positions(epoch, |bits| law.positions.inclusions(bits));
        let mut sum = [0.0; LANES];
        let mut product = [[1.0; LANES]; 2];
        for step in 0..self.plan.batches_per_epoch {
            // SAFETY: the caller has the instruction set.
            let values = unsafe { self.others.draw(&self.plan.others, block, first_draw + step) };
            for lane in 0..LANES {
                let included = u64::from(step) < inclusions[lane];
                let value = if included { self.factor * values[lane] } else { values[lane] };
                product[0][lane] *= law.absent + law.present[0] * value;
                product[1][lane] *= law.absent + law.present[1] * (value * value);
            }
            if step % PRODUCT_LENGTH == PRODUCT_LENGTH - 1 || step + 1 == self.plan.batches_per_epoch {
                let logs = log_ratio(&Sums { first: product[0], second: product[1] }, self.plan.squares);
                for lane in 0..LANES {
                    sum[lane] += logs[lane];
                }
                product = [[1.0; LANES]; 2];
            }
        }
        sum
    }
}

/// ln of the second sum over the first, or of the first alone.
#[inline(always)]
fn log_ratio(sums: &Sums, squares: bool) -> [f64; LANES] {
    ln(if squares { std::array::from_fn(|lane| sums.second[lane] / sums.first[lane]) } else { sums.first })
}

/// [`Workspace::sum`] with the plan's number of squarings.
#[inline(always)]
unsafe fn sum<L: Lanes>(
    workspace: &mut Workspace<L, FOR_SUMS>,
    plan: &Plan,
    block: Block,
    first_draw: u32,
    count: u32,
) -> Sums {
    let segments = &plan.others;
    // SAFETY: the caller has the instruction set.
    unsafe {
        match (segments.squarings, plan.squares) {
            (0, true) => workspace.sum::<0, true>(segments, block, first_draw, count),
            (1, true) => workspace.sum::<1, true>(segments, block, first_draw, count),
            (2, true) => workspace.sum::<2, true>(segments, block, first_draw, count),
            (3, true) => workspace.sum::<3, true>(segments, block, first_draw, count),
            (_, true) => workspace.sum::<4, true>(segments, block, first_draw, count),
            (0, false) => workspace.sum::<0, false>(segments, block, first_draw, count),
            (1, false) => workspace.sum::<1, false>(segments, block, first_draw, count),
            (2, false) => workspace.sum::<2, false>(segments, block, first_draw, count),
            (3, false) => workspace.sum::<3, false>(segments, block, first_draw, count),
            (_, false) => workspace.sum::<4, false>(segments, block, first_draw, count),
        }
    }
}
