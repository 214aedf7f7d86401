//! Refines the grid until the interval is narrow enough.

use super::Interval;
use super::one_jump::OneJump;
use super::pair::{LossRange, SubsampledGaussian};
use crate::pld::{Aim, Cells, Composition, LossGrid, MOST_BLUR};
use crate::work::{OutOfReach, Work};
use libm::sqrt;

/// The number of points of the first grid. Each refinement multiplies it by at most [`FASTEST_REFINEMENT`].
const FIRST_POINTS: f64 = 400.0;
const FASTEST_REFINEMENT: f64 = 5.0;
/// The most points of the grid of a single step.
const MOST_POINTS: f64 = 5e5;
/// If a composed law has more points, large losses are kept separate.
const MOST_POINTS_COMPOSED: usize = 200_000;
/// The share of delta that several jumps may add.
const SEVERAL_JUMPS: f64 = 1e-4;
/// Refinement stops after this many rounds in a row without progress.
const PATIENCE: u32 = 2;

/// The fewest points of the first grid.
const FEWEST_POINTS: f64 = 12.0;
/// The units of work for every point of a step's grid: its masses on both sides.
const PER_POINT: f64 = 400.0;
/// The smallest factor by which a grid is refined.
const SMALLEST_REFINEMENT: f64 = 1.5;
/// The share of the work for bounds. The rest is for the other order of the pair.
const FOR_BOUNDS: f64 = 0.8;

/// The search for the epsilon of `steps` steps at `delta`.
pub(super) struct Refinement<'a> {
    pub pair: &'a SubsampledGaussian,
    pub steps: u64,
    pub delta: f64,
}

/// Certified bounds for the order of the pair that almost always decides.
struct Bounds {
    lower: f64,
    upper: f64,
}

impl Refinement<'_> {
    /// Refines until `excess(width, epsilon)` is at most one, nothing improves, or the work is used up.
    ///
    /// All bounds found during the refinement are valid. The best of them are kept.
    pub fn run(&self, excess: impl Fn(f64, f64) -> f64, work: &Work) -> Result<Interval, OutOfReach> {
        // Losses outside the grid may add this share to delta.
        let tail = (1e-6 * self.delta / self.steps as f64).max(1e-305);
        let mut range = self.pair.loss_range(tail);
        let mut bounds = Bounds { lower: 0.0, upper: f64::INFINITY };
        let mut step = (range.high - range.low) / FIRST_POINTS;
        let (mut apart, mut failures) = (false, 0);
        let mut finest_in_reach = None;
        loop {
            let before = bounds.upper - bounds.lower;
            let found = work.part(FOR_BOUNDS * work.left(), |work| {
                work.charge(PER_POINT * (range.high - range.low) / step)?;
                let (cells, gathered) = (self.pair.cells(step, range), self.pair.gathered_cells(step, range));
                let heavy = if apart {
                    self.one_jump(&cells, &gathered, &mut bounds, work)?;
                    false
                } else {
                    self.whole(&cells, &gathered, &mut bounds, work)?
                };
                Ok((cells, gathered, heavy))
            });
            let (cells, gathered, heavy) = match (found, finest_in_reach) {
                (Ok(found), _) => found,
                // Between the last grid and this one there may be a finest grid that the work pays for.
                (Err(OutOfReach), Some((cells, gathered, before))) if step < before / SMALLEST_REFINEMENT => {
                    step = sqrt(step * before);
                    finest_in_reach = Some((cells, gathered, before));
                    continue;
                }
                (Err(OutOfReach), Some((cells, gathered, _))) => {
                    return self.with_the_other_order(&cells, &gathered, &bounds, work);
                }
                (Err(OutOfReach), None) if step < (range.high - range.low) / FEWEST_POINTS => {
                    step *= 2.0;
                    finest_in_reach = None;
                    continue;
                }
                (Err(OutOfReach), None) => return Err(OutOfReach),
            };
            let width = bounds.upper - bounds.lower;
            failures = if width > 0.9 * before { failures + 1 } else { 0 };
            let finest = (range.high - range.low) / MOST_POINTS;
            let last = !heavy && (step <= finest || failures >= PATIENCE);
            if excess(width, bounds.upper) <= 1.0 || last {
                let both = self.with_the_other_order(&cells, &gathered, &bounds, work)?;
                if excess(both.epsilon_upper_bound - both.epsilon_lower_bound, bounds.upper) <= 1.0 || last {
                    return Ok(both);
                }
            }
            if heavy {
                apart = true;
                failures = 0;
                let n = self.steps as f64;
                let jump = sqrt(2.0 * SEVERAL_JUMPS * self.delta) / n;
                range = LossRange { high: self.pair.high_loss(jump), ..range };
            }
            let before = step;
            // The width decreases with the square of the grid's step.
            let refinement = 1.15 * excess(width, bounds.upper).sqrt();
            step /= refinement.clamp(1.5, FASTEST_REFINEMENT);
            let finest = (range.high - range.low) / MOST_POINTS;
            step = step.max(finest).min((range.high - range.low) / FIRST_POINTS);
            finest_in_reach = Some((cells, gathered, before));
        }
    }

    /// Bounds from the whole law, and whether round-off or length makes it unsuitable.
    fn whole(
        &self,
        cells: &Cells,
        gathered: &Cells,
        bounds: &mut Bounds,
        work: &Work,
    ) -> Result<bool, OutOfReach> {
        let heavy = |law: &Composition, epsilon: f64| {
            law.points() > MOST_POINTS_COMPOSED || law.blur(epsilon, self.delta) > MOST_BLUR
        };
        let above = self.compose(&cells.pessimistic(), work)?;
        let upper = above.epsilon(self.delta);
        bounds.upper = bounds.upper.min(upper);
        let heavy_above = heavy(&above, upper);
        drop(above);
        let below = self.compose(&gathered.optimistic(), work)?;
        let lower = below.epsilon(self.delta);
        bounds.lower = bounds.lower.max(lower);
        Ok(self.steps > 1 && (heavy_above || heavy(&below, lower)))
    }

    /// Bounds from the law that is split at the top of the cells.
    fn one_jump(
        &self,
        cells: &Cells,
        gathered: &Cells,
        bounds: &mut Bounds,
        work: &Work,
    ) -> Result<(), OutOfReach> {
        let above = OneJump::new(*self.pair, cells, Cells::pessimistic, self.steps, self.delta, work)?;
        bounds.upper = above.epsilon(self.delta, bounds.lower, bounds.upper);
        drop(above);
        let below = OneJump::new(*self.pair, gathered, Cells::optimistic, self.steps, self.delta, work)?;
        bounds.lower = below.epsilon(self.delta, bounds.lower, bounds.upper);
        Ok(())
    }

    /// Bounds that also cover the other order of the pair, which rarely matters.
    ///
    /// Its upper bound usually shows this. If not, its lower bound counts too.
    fn with_the_other_order(
        &self,
        cells: &Cells,
        gathered: &Cells,
        bounds: &Bounds,
        work: &Work,
    ) -> Result<Interval, OutOfReach> {
        let read =
            |law: LossGrid| -> Result<f64, OutOfReach> { Ok(self.compose(&law, work)?.epsilon(self.delta)) };
        let reversed = read(cells.reversed().pessimistic())?;
        Ok(if reversed > bounds.upper {
            // If this lower bound is not computed, the interval is wider but still valid.
            let reversed_lower = read(gathered.reversed().optimistic()).unwrap_or(0.0);
            Interval { epsilon_lower_bound: bounds.lower.max(reversed_lower), epsilon_upper_bound: reversed }
        } else {
            Interval { epsilon_lower_bound: bounds.lower, epsilon_upper_bound: bounds.upper }
        })
    }

    fn compose(&self, law: &LossGrid, work: &Work) -> Result<Composition, OutOfReach> {
        law.compose_within(self.steps, Aim::Delta(self.delta), work)
    }
}
