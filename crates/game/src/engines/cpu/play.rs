//! Turns sums of exponentials into scores, sixteen trials at a time.

use super::kernel::{Block, Sums, Workspace};
use super::lanes::{LANES, Lanes};
use super::logarithm::ln;
use super::plan::{EachStepLaw, EnginePlan, Law, WeightedLaw};
use super::segments::{FOR_SINGLE_VALUES, FOR_SUMS};
use misdeal_core::{Stream, World};

/// The number of blocks that are computed together.
const GROUP: usize = 4;
/// The number of likelihood ratios that are multiplied before a logarithm is taken.
const PRODUCT_LENGTH: u32 = 4;

/// Computes the scores of blocks of sixteen trials from `first_trial` on, which must be a multiple of sixteen.
///
/// # Safety
/// The processor has the instruction set of `L`, and this is inlined into a function compiled for it.
#[inline(always)]
pub unsafe fn score_blocks<L: Lanes>(
    plan: &EnginePlan,
    stream: &Stream,
    world: World,
    first_trial: u64,
    scores: &mut [[f64; LANES]],
) {
    let factor = match world {
        World::In => plan.factor_in,
        World::Out => plan.factor_out,
    };
    // SAFETY: the caller guarantees the instruction set.
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

/// The simulation of one world on one instruction set.
struct Player<'a, L: Lanes> {
    plan: &'a EnginePlan,
    /// The factor of the target's exponential in this world.
    factor: f64,
    target: Workspace<L, FOR_SINGLE_VALUES>,
    others: Workspace<L, FOR_SUMS>,
}

impl<L: Lanes> Player<'_, L> {
    /// Adds one epoch's part of the log-likelihood ratio to the scores of neighbouring blocks.
    ///
    /// It makes several sweeps over the blocks, so that the processor finds independent work in each.
    #[inline(always)]
    unsafe fn add_epoch(&mut self, first_block: Block, epoch: u32, scores: &mut [[f64; LANES]]) {
        let blocks: [Block; GROUP] = std::array::from_fn(|i| first_block.neighbour(i));
        let blocks = &blocks[..scores.len()];
        let mut sums = [Sums::ZERO; GROUP];
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            match &self.plan.law {
                Law::Equal => {
                    for (sums, &block) in sums.iter_mut().zip(blocks) {
                        *sums = self.equal_sums(block, epoch);
                    }
                    for (sums, &block) in sums.iter_mut().zip(blocks) {
                        self.add_target(sums, block, epoch);
                    }
                }
                Law::Weighted(law) => {
                    for (sums, &block) in sums.iter_mut().zip(blocks) {
                        *sums = self.weighted_sums(law, block, epoch);
                    }
                }
                Law::EachStep(law) => {
                    for (score, &block) in scores.iter_mut().zip(blocks) {
                        add(score, self.each_step_logs(law, block, epoch));
                    }
                    return;
                }
            }
        }
        for (score, sums) in scores.iter_mut().zip(&sums) {
            add(score, log_ratio(sums, self.plan.squares).map(|log| log + self.plan.constant));
        }
    }

    /// The sums of u and u^2 over the batches without the target.
    #[inline(always)]
    unsafe fn equal_sums(&mut self, block: Block, epoch: u32) -> Sums {
        let first_draw = epoch * self.plan.batches_per_epoch + 1;
        // SAFETY: the caller guarantees the instruction set.
        unsafe { sum(&mut self.others, self.plan, block, first_draw, self.plan.batches_per_epoch - 1) }
    }

    /// Adds the target's u and u^2 to `sums`.
    #[inline(always)]
    unsafe fn add_target(&self, sums: &mut Sums, block: Block, epoch: u32) {
        // SAFETY: the caller guarantees the instruction set.
        let targets =
            unsafe { self.target.draw(&self.plan.target, block, epoch * self.plan.batches_per_epoch) };
        for lane in 0..LANES {
            sums.add(lane, 1.0, self.factor * targets[lane]);
        }
    }

    /// The sums of w u and w u^2 over all batches.
    #[inline(always)]
    unsafe fn weighted_sums(&mut self, law: &WeightedLaw, block: Block, epoch: u32) -> Sums {
        let first_draw = epoch * self.plan.batches_per_epoch;
        let decided_by = if law.kept { 0 } else { epoch };
        let at = block.positions(decided_by, |bits| law.positions.batch(bits) - law.first_batch);
        let mut sums = Sums::ZERO;
        // SAFETY: the caller guarantees the instruction set.
        let targets = unsafe { self.target.draw(&self.plan.target, block, first_draw) };
        for lane in 0..LANES {
            sums.add(lane, law.weights[at[lane] as usize], self.factor * targets[lane]);
        }
        for (other, pair) in law.weights.windows(2).enumerate() {
            // SAFETY: the caller guarantees the instruction set.
            let values = unsafe { self.others.draw(&self.plan.others, block, first_draw + 1 + other as u32) };
            for lane in 0..LANES {
                // The batches without the target follow in order. Those after the target's batch are shifted by one.
                sums.add(lane, pair[usize::from(other as u64 >= at[lane])], values[lane]);
            }
        }
        sums
    }

    /// The sum over steps of ln(1 - q + q e^(-2/s^2) u^2) - ln(1 - q + q e^(-1/(2 s^2)) u), or of the latter logarithm
    /// only.
    #[inline(always)]
    unsafe fn each_step_logs(&mut self, law: &EachStepLaw, block: Block, epoch: u32) -> [f64; LANES] {
        let first_draw = epoch * self.plan.batches_per_epoch;
        let inclusions = block.positions(epoch, |bits| law.positions.inclusions(bits));
        let mut sum = [0.0; LANES];
        let mut product = [[1.0; LANES]; 2];
        for step in 0..self.plan.batches_per_epoch {
            // SAFETY: the caller guarantees the instruction set.
            let values = unsafe { self.others.draw(&self.plan.others, block, first_draw + step) };
            for lane in 0..LANES {
                let included = u64::from(step) < inclusions[lane];
                let value = if included { self.factor * values[lane] } else { values[lane] };
                product[0][lane] *= law.absent + law.present[0] * value;
                product[1][lane] *= law.absent + law.present[1] * (value * value);
            }
            if step % PRODUCT_LENGTH == PRODUCT_LENGTH - 1 || step + 1 == self.plan.batches_per_epoch {
                add(&mut sum, log_ratio(&Sums { first: product[0], second: product[1] }, self.plan.squares));
                product = [[1.0; LANES]; 2];
            }
        }
        sum
    }
}

/// Adds lane by lane.
#[inline(always)]
fn add(sums: &mut [f64; LANES], values: [f64; LANES]) {
    for lane in 0..LANES {
        sums[lane] += values[lane];
    }
}

/// The logarithm of the second sum divided by the first, or of the first only.
#[inline(always)]
fn log_ratio(sums: &Sums, squares: bool) -> [f64; LANES] {
    ln(if squares { std::array::from_fn(|lane| sums.second[lane] / sums.first[lane]) } else { sums.first })
}

/// Calls [`Workspace::sum`] with the plan's number of squarings.
#[inline(always)]
unsafe fn sum<L: Lanes>(
    workspace: &mut Workspace<L, FOR_SUMS>,
    plan: &EnginePlan,
    block: Block,
    first_draw: u32,
    count: u32,
) -> Sums {
    let segments = &plan.others;
    // SAFETY: the caller guarantees the instruction set.
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
