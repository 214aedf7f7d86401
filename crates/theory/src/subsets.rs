//! Fixed-size subsets: a certified interval for epsilon, a few percent wide at usual settings.
//!
//! With q the share of the records that a step draws, no step leaks more than the profile
//!
//! ```text
//! h(g) = H_g((1-q) N(0) + q N(2) || (1-q) N(0) + q N(1))   for g >= 1,
//! h(g) = H_g(N(0) || (1-q) N(0) + q N(1))                  for g < 1,
//! ```
//!
//! all Gaussians with variance s^2. The second line is Poisson sampling's. The profile belongs to one pair of laws, so
//! it composes over adaptive steps. The first pair alone is attained, which gives the lower bound. Proof:
//! `docs/proofs/fixed-size-subsets.md`.

use crate::pld::{Aim, Cells, Masses};
use crate::poisson::Interval;
use crate::quadrature::FIVE_NODES;
use crate::work::{OutOfReach, Work};
use libm::{ceil, exp, expm1, log, log1p, sqrt};
use misdeal_core::normal;

/// The cells of the first grid; each refinement multiplies them by [`REFINEMENT`].
const FIRST_CELLS: f64 = 1500.0;
const REFINEMENT: f64 = 4.0;
/// The most cells of a grid.
const MOST_CELLS: f64 = 2e5;
/// Refinement stops once it moves neither bound by more than this share.
const SETTLED: f64 = 2e-4;
/// The units of work for each cell: its masses by quadrature, for both bounds.
const PER_CELL: f64 = 900.0;
/// The share of delta that losses outside the grid may add, all steps together.
const OUTSIDE: f64 = 1e-6;
/// The width of a piece of a cell for the quadrature, in deviations times the distance from the centre.
const REACH: f64 = 0.5;

/// One step that draws a uniform subset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Subset {
    /// The noise multiplier s, at least [`LEAST_NOISE`].
    pub noise: f64,
    /// The share q of the records that a step draws, below 1.
    pub share: f64,
}

/// The least noise for which the outputs of losses can be computed: with less, e^(1/s^2) overflows.
pub(crate) const LEAST_NOISE: f64 = 0.05;

/// A mixture (1-q) N(0, s^2) + q N(shift, s^2).
#[derive(Debug, Clone, Copy)]
struct Mixture {
    step: Subset,
    shift: f64,
}

impl Mixture {
    fn density(&self, y: f64) -> f64 {
        let Subset { noise, share } = self.step;
        ((1.0 - share) * normal::density(y / noise) + share * normal::density((y - self.shift) / noise))
            / noise
    }

    /// The mass between two outputs: by quadrature where they are close, else from the smaller tails.
    fn mass(&self, low: f64, high: f64) -> f64 {
        let Subset { noise, share } = self.step;
        let width = high - low;
        let far = low.abs().max(high.abs()).max((high - self.shift).abs()) / noise + 2.0;
        if width / noise * far < REACH {
            return FIVE_NODES
                .iter()
                .map(|&[node, weight]| weight * self.density(low + node * width))
                .sum::<f64>()
                * width;
        }
        let between = |centre: f64| {
            let (a, b) = ((low - centre) / noise, (high - centre) / noise);
            if a > 0.0 { normal::cdf(-a) - normal::cdf(-b) } else { normal::cdf(b) - normal::cdf(a) }
        };
        (1.0 - share) * between(0.0) + share * between(self.shift)
    }
}

impl Subset {
    /// An interval for epsilon after `steps` steps at `delta`, within the rest of `work`.
    ///
    /// # Errors
    /// The work does not pay for the coarsest grid.
    pub fn epsilon_within(&self, steps: u64, delta: f64, work: &Work) -> Result<Interval, OutOfReach> {
        let mut cells = FIRST_CELLS;
        let mut best: Option<Interval> = None;
        loop {
            let found = work.part(0.8 * work.left(), |work| self.on_grid(cells, steps, delta, work));
            let Ok(found) = found else { return best.ok_or(OutOfReach) };
            let before = best.replace(match best {
                None => found,
                Some(best) => Interval {
                    epsilon_lower_bound: best.epsilon_lower_bound.max(found.epsilon_lower_bound),
                    epsilon_upper_bound: best.epsilon_upper_bound.min(found.epsilon_upper_bound),
                },
            });
            let moved = |before: f64, after: f64| (before - after).abs() > SETTLED * after.abs();
            let is_settled = before.is_some_and(|before| {
                best.is_some_and(|best| {
                    !moved(before.epsilon_upper_bound, best.epsilon_upper_bound)
                        && !moved(before.epsilon_lower_bound, best.epsilon_lower_bound)
                })
            });
            if is_settled || cells >= MOST_CELLS {
                return best.ok_or(OutOfReach);
            }
            cells = (cells * REFINEMENT).min(MOST_CELLS);
        }
    }

    /// Bounds on a grid of about `cells` cells.
    fn on_grid(&self, cells: f64, steps: u64, delta: f64, work: &Work) -> Result<Interval, OutOfReach> {
        work.charge(PER_CELL * cells)?;
        let tail = (OUTSIDE * delta / steps as f64).max(1e-300);
        let grid = Grid::new(self, cells, tail);
        let dominating = self.dominating_cells(&grid);
        let attained = self.attained_cells(&grid);
        let read = |law: crate::pld::LossGrid| -> Result<f64, OutOfReach> {
            Ok(law.compose_within(steps, Aim::Delta(delta), work)?.epsilon(delta))
        };
        // Both orders: the larger upper bound holds for either, and each lower bound is attained.
        let upper = read(dominating.pessimistic())?.max(read(dominating.reversed().pessimistic())?);
        let lower = read(attained.optimistic())?;
        Ok(Interval { epsilon_lower_bound: lower.min(upper), epsilon_upper_bound: upper })
    }

    /// The dominating pair's cells on multiples of `step`, leaving out about `tail`.
    pub fn dominating_cells_on(&self, step: f64, tail: f64) -> Cells {
        let [least, highest] = Grid::ends(self, tail);
        self.dominating_cells(&Grid::over(step, [least, highest]))
    }

    /// The length of the range of losses that leaves out about `tail`.
    pub fn range_of_losses(&self, tail: f64) -> f64 {
        let [least, highest] = Grid::ends(self, tail);
        highest - least
    }

    /// The loss of the attained pair at an output.
    fn loss(&self, y: f64) -> f64 {
        let q = self.share;
        let noise = self.noise * self.noise;
        let twice = (2.0 * y - 2.0) / noise;
        let twice = if twice > 30.0 {
            twice + log(q) + log1p((1.0 - q) / q * exp(-twice))
        } else {
            log1p(q * expm1(twice))
        };
        twice - self.loss_of_poisson(y)
    }

    /// The output above 3/2 at which the attained pair's loss is `loss >= 0`.
    ///
    /// With w = (y - 3/2)/s^2, r = (1-q)/q e^(-1/s^2) and g = e^loss the equation is e^2w - g e^w - r (g - 1) = 0.
    fn output_of_gain(&self, loss: f64) -> f64 {
        let noise = self.noise * self.noise;
        let r = (1.0 - self.share) / self.share * exp(-1.0 / noise);
        // Divided by g^2, so that nothing overflows.
        let part = 4.0 * r * -expm1(-loss) * exp(-loss);
        let w = loss + log(0.5 * (1.0 + sqrt(1.0 + part)));
        1.5 + noise * w
    }

    /// Poisson sampling's loss at an output.
    fn loss_of_poisson(&self, y: f64) -> f64 {
        let (q, x) = (self.share, (y - 0.5) / (self.noise * self.noise));
        if x > 30.0 { x + log(q) + log1p((1.0 - q) / q * exp(-x)) } else { log1p(q * expm1(x)) }
    }

    /// The output above 1/2 at which Poisson sampling's loss is `loss >= 0`.
    fn output_of_poisson(&self, loss: f64) -> f64 {
        let q = self.share;
        let x =
            if loss > 30.0 { loss - log(q) + log1p(-(1.0 - q) * exp(-loss)) } else { log1p(expm1(loss) / q) };
        0.5 + self.noise * self.noise * x
    }

    /// The pair of the profile h, as masses of cells of its loss.
    ///
    /// Its losses above 0 are those of the attained pair, at outputs above 3/2. Its losses below 0 are those of Poisson
    /// sampling with the opposite sign, at outputs above 1/2. The rest of the mass has loss 0.
    fn dominating_cells(&self, grid: &Grid) -> Cells {
        let [without, with, twice] = [0.0, 1.0, 2.0].map(|shift| Mixture { step: *self, shift });
        let end = |i: i64| i as f64 * grid.step;
        let below = (grid.first..0).map(|i| {
            let (low, high) = (self.output_of_poisson(-end(i + 1)), self.output_of_poisson(-end(i)));
            self.cell(grid.step, end(i), [low, high], |y| -self.loss_of_poisson(y), without, with)
        });
        let above = (0..grid.last).map(|i| {
            let (low, high) = (self.output_of_gain(end(i)), self.output_of_gain(end(i + 1)));
            self.cell(grid.step, end(i), [low, high], |y| self.loss(y), twice, with)
        });
        let mut cells: Vec<(f64, f64)> = below.chain(above).collect();
        // What is left has loss 0: the lower end of the first cell above it.
        let least = self.output_of_poisson(-end(grid.first));
        let most = self.output_of_gain(end(grid.last));
        // The difference of two tails may cancel: its rounding is added, which is the safe side.
        let at_zero =
            (with.mass(f64::NEG_INFINITY, 0.5) - with.mass(1.5, f64::INFINITY)).max(0.0) + 4.0 * f64::EPSILON;
        let zero = grid.first.unsigned_abs() as usize;
        cells[zero].0 += at_zero;
        let beneath = Masses { p: without.mass(least, f64::INFINITY), q: with.mass(least, f64::INFINITY) };
        let beyond = Masses { p: twice.mass(most, f64::INFINITY), q: with.mass(most, f64::INFINITY) };
        Cells::from_shares(grid.step, 0.0, grid.first, cells.into_iter(), beneath, beyond)
    }

    /// The P mass of a cell of losses, and its part at the cell's upper end: see [`Cells::from_shares`].
    ///
    /// Pieces of the cell are integrated by Gauss-Legendre quadrature with five nodes.
    fn cell(
        &self,
        step: f64,
        from: f64,
        [low, high]: [f64; 2],
        loss: impl Fn(f64) -> f64,
        p: Mixture,
        q: Mixture,
    ) -> (f64, f64) {
        // Far out nothing is left; an infinite end is cut where the density underflows.
        let farthest = 40.0 * self.noise;
        let (low, high) = (low.max(-farthest), high.min(2.0 + farthest));
        if high <= low {
            return (0.0, 0.0);
        }
        let far = low.abs().max(high.abs()).max((low - 2.0).abs()) / self.noise + 2.0;
        let pieces = ceil((high - low) / self.noise * far / REACH).clamp(1.0, 4000.0);
        let width = (high - low) / pieces;
        let (mut mass, mut rise) = (0.0, 0.0);
        for piece in 0..pieces as u64 {
            let start = low + piece as f64 * width;
            for &[node, weight] in &FIVE_NODES {
                let y = start + node * width;
                mass += weight * p.density(y);
                // P - e^from Q, without cancellation.
                rise += weight * q.density(y) * exp(from) * expm1(loss(y) - from);
            }
        }
        (mass * width, rise * width / -expm1(-step))
    }

    /// The attained pair, as masses of a partition of the outputs into intervals of about one cell of loss each.
    fn attained_cells(&self, grid: &Grid) -> Cells {
        let [with, twice] = [1.0, 2.0].map(|shift| Mixture { step: *self, shift });
        let ends: Vec<f64> = (0..=grid.last).map(|i| self.output_of_gain(i as f64 * grid.step)).collect();
        let upper = ends.windows(2).map(|y| [y[0], y[1]]);
        // Below 3/2 the loss is negative and not monotone. Intervals over which it moves by less than a cell are fine.
        let lowest = self.noise * normal::lower_quantile(1e-18);
        let number = ceil(((1.5 - lowest) / self.noise * 200.0).max(2.0 * grid.first.unsigned_abs() as f64))
            .clamp(100.0, 2e5);
        let width = (1.5 - lowest) / number;
        let lower = (0..number as u64).map(|i| {
            let low = if i == 0 { f64::NEG_INFINITY } else { lowest + i as f64 * width };
            [low, if i as f64 == number - 1.0 { 1.5 } else { lowest + (i + 1) as f64 * width }]
        });
        let beyond = [ends[ends.len() - 1], f64::INFINITY];
        let events = lower
            .chain(upper)
            .chain([beyond])
            .map(|[low, high]| Masses { p: twice.mass(low, high), q: with.mass(low, high) });
        let deepest = (0..=400)
            .map(|i| self.loss(1.5 * f64::from(i) / 400.0 - 6.0 * self.noise * (1.0 - f64::from(i) / 400.0)));
        let first = (deepest.fold(0.0, f64::min) / grid.step).floor() as i64 - 2;
        Cells::from_events(grid.step, first, (grid.last - first + 1) as usize, events)
    }
}

/// A grid of losses with 0 among its points.
#[derive(Debug, Clone, Copy)]
struct Grid {
    step: f64,
    /// The index of the lowest point, below 0.
    first: i64,
    /// The index of the highest point.
    last: i64,
}

impl Grid {
    /// About `cells` cells that leave out at most `tail` of P above and of Q below.
    fn new(subset: &Subset, cells: f64, tail: f64) -> Self {
        let [least, highest] = Self::ends(subset, tail);
        Self::over((highest - least) / cells, [least, highest])
    }

    /// The losses outside which at most `tail` of P lies above and of Q below.
    fn ends(subset: &Subset, tail: f64) -> [f64; 2] {
        let z = |tail: f64| -normal::lower_quantile(tail.min(0.4));
        let (noise, share) = (subset.noise, subset.share);
        let farthest = |centre: f64| (centre + noise * z(0.5 * tail / share)).max(noise * z(0.5 * tail));
        let highest = subset.loss(farthest(2.0)).max(1e-3 * share);
        let least = -subset.loss_of_poisson(farthest(1.0));
        [least, highest]
    }

    fn over(step: f64, [least, highest]: [f64; 2]) -> Self {
        Grid { step, first: (least / step).floor() as i64 - 1, last: ceil(highest / step) as i64 + 1 }
    }
}

#[cfg(test)]
mod tests;
