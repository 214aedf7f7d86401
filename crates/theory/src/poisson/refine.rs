//! Finer and finer grids, until the interval is narrow enough.

use super::Interval;
use super::one_jump::OneJump;
use super::pair::{LossRange, SubsampledGaussian};
use crate::pld::{Aim, Cells, Composition, LossGrid, MOST_BLUR};
use libm::sqrt;

/// Points of the first grid; each refinement multiplies them by at most [`FASTEST_REFINEMENT`].
const FIRST_POINTS: f64 = 400.0;
const FASTEST_REFINEMENT: f64 = 5.0;
/// The finest grid of a single step; the interval is wider than asked for where this is not enough.
const MOST_POINTS: f64 = 5e5;
/// Points of a composed law beyond which large losses are kept apart.
const MOST_POINTS_COMPOSED: usize = 200_000;
/// Share of delta that several jumps may add.
const SEVERAL_JUMPS: f64 = 1e-4;
/// Rounds in a row without progress after which a finer grid is given up.
const PATIENCE: u32 = 2;

/// Narrows down the epsilon of `steps` steps at `delta`.
pub(super) struct Refinement<'a> {
    pub pair: &'a SubsampledGaussian,
    pub steps: u64,
    pub delta: f64,
}

/// Certified bounds for the order of the pair that nearly always decides.
struct Bounds {
    lower: f64,
    upper: f64,
}

impl Refinement<'_> {
    /// Refines the grid until `excess(width, epsilon)` is at most one, or nothing more is gained.
    ///
    /// All bounds found on the way are valid, and the best of them are kept.
    pub fn run(&self, excess: impl Fn(f64, f64) -> f64) -> Interval {
        // What lies outside the grid may add this share to delta.
        let tail = (1e-6 * self.delta / self.steps as f64).max(1e-305);
        let mut range = self.pair.loss_range(tail);
        let mut bounds = Bounds { lower: 0.0, upper: f64::INFINITY };
        let mut step = (range.high - range.low) / FIRST_POINTS;
        let (mut apart, mut failures) = (false, 0);
        loop {
            let (cells, gathered) = (self.pair.cells(step, range), self.pair.gathered_cells(step, range));
            let before = bounds.upper - bounds.lower;
            let heavy = if apart {
                self.one_jump(&cells, &gathered, &mut bounds);
                false
            } else {
                self.whole(&cells, &gathered, &mut bounds)
            };
            let width = bounds.upper - bounds.lower;
            failures = if width > 0.9 * before { failures + 1 } else { 0 };
            let finest = (range.high - range.low) / MOST_POINTS;
            let last = !heavy && (step <= finest || failures >= PATIENCE);
            if excess(width, bounds.upper) <= 1.0 || last {
                let both = self.with_the_other_order(&cells, &gathered, &bounds);
                if excess(both.epsilon_upper_bound - both.epsilon_lower_bound, bounds.upper) <= 1.0 || last {
                    return both;
                }
            }
            if heavy {
                apart = true;
                failures = 0;
                let n = self.steps as f64;
                let jump = sqrt(2.0 * SEVERAL_JUMPS * self.delta) / n;
                range = LossRange { high: self.pair.high_loss(jump), ..range };
            }
            // The width falls with the square of the grid's.
            let refinement = 1.15 * excess(width, bounds.upper).sqrt();
            step /= refinement.clamp(1.5, FASTEST_REFINEMENT);
            let finest = (range.high - range.low) / MOST_POINTS;
            step = step.max(finest).min((range.high - range.low) / FIRST_POINTS);
        }
    }

    /// Bounds from the law as it is, and whether round-off or sheer length stand in its way.
    fn whole(&self, cells: &Cells, gathered: &Cells, bounds: &mut Bounds) -> bool {
        let (above, below) = (self.compose(&cells.pessimistic()), self.compose(&gathered.optimistic()));
        let (upper, lower) = (above.epsilon(self.delta), below.epsilon(self.delta));
        bounds.upper = bounds.upper.min(upper);
        bounds.lower = bounds.lower.max(lower);
        let heavy = |law: &Composition, epsilon: f64| {
            law.points() > MOST_POINTS_COMPOSED || law.blur(epsilon, self.delta) > MOST_BLUR
        };
        self.steps > 1 && (heavy(&above, upper) || heavy(&below, lower))
    }

    /// Bounds from the law split at the top of the cells.
    fn one_jump(&self, cells: &Cells, gathered: &Cells, bounds: &mut Bounds) {
        let above = OneJump::new(*self.pair, cells, Cells::pessimistic, self.steps, self.delta);
        bounds.upper = above.epsilon(self.delta, bounds.lower, bounds.upper);
        let below = OneJump::new(*self.pair, gathered, Cells::optimistic, self.steps, self.delta);
        bounds.lower = below.epsilon(self.delta, bounds.lower, bounds.upper);
    }

    /// The other order rarely matters: its upper bound shows that, and else its lower bound counts too.
    fn with_the_other_order(&self, cells: &Cells, gathered: &Cells, bounds: &Bounds) -> Interval {
        let read = |law: LossGrid| self.compose(&law).epsilon(self.delta);
        let reversed = read(cells.reversed().pessimistic());
        if reversed > bounds.upper {
            let reversed_lower = read(gathered.reversed().optimistic());
            Interval { epsilon_lower_bound: bounds.lower.max(reversed_lower), epsilon_upper_bound: reversed }
        } else {
            Interval { epsilon_lower_bound: bounds.lower, epsilon_upper_bound: bounds.upper }
        }
    }

    fn compose(&self, law: &LossGrid) -> Composition {
        law.compose(self.steps, Aim::Delta(self.delta))
    }
}
