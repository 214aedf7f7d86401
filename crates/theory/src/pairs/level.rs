//! One level of the privacy loss: probabilities of {L > level} and the hockey-stick divergence, from both sides.

use super::cells::{CellMass, Cells, Spread};
use super::shift_pair::{ShiftPair, WeightGroup};
use super::sign_law::{Grid, GridTerm};
use super::sum_law::{SplitPoint, Transform};
use super::totals::{Doubt, Part, Totals};
use super::window::Window;
use crate::work::OutOfReach;
use realfft::RealFftPlanner;

/// The number of fine cells merged into one, for sizing the window only.
const MERGED: usize = 8;

/// The total error of a term's masses.
const MASS_ERROR: f64 = 1e-14;
/// The relative error of each mass. It comes from rounding an output's position. This rounding error grows with the
/// distance of the output, which is at most 40 deviations here.
const TAIL_ERROR: f64 = 1e-12;

/// The number of points of the coarsest grid.
const FEWEST_POINTS: usize = 1 << 12;

/// The bounds for a pair at one level l: an event close to {L > l}, and bounds on both divergences.
///
/// The term g is spread to cell ends and then rounded to a grid, at random and without bias. Let A be the event that
/// the rounded sum is positive. A is a valid test, and the rounded terms are larger in convex order, so
///
/// ```text
/// P(A) - e^l Q(A)  <=  delta(l) = E_0 (sum w g)+  <=  E_0 (sum w rounded g)+,
/// ```
///
/// Both ends differ from delta(l) by O(step^2) only. The same holds for the reverse divergence Q(L < l) - e^-l P(L < l)
/// with the complement of A. In each field, window and round-off errors are on the safe side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelPoint {
    /// The level l.
    pub level: f64,
    /// A lower bound on P(A).
    pub present: f64,
    /// An upper bound on Q(A).
    pub absent: f64,
    /// An upper bound on P(not A).
    pub present_complement: f64,
    /// A lower bound on Q(not A).
    pub absent_complement: f64,
    /// A lower bound on P(L > l) - e^l Q(L > l).
    pub delta_lower_bound: f64,
    /// An upper bound on P(L > l) - e^l Q(L > l).
    pub delta_upper_bound: f64,
    /// A lower bound on Q(L < l) - e^-l P(L < l).
    pub reverse_delta_lower_bound: f64,
    /// An upper bound on Q(L < l) - e^-l P(L < l).
    pub reverse_delta_upper_bound: f64,
}

impl LevelPoint {
    /// The bounds for the pair with P and Q exchanged, at the level -l.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            level: -self.level,
            present: self.absent_complement,
            absent: self.present_complement,
            present_complement: self.absent,
            absent_complement: self.present,
            delta_lower_bound: self.reverse_delta_lower_bound,
            delta_upper_bound: self.reverse_delta_upper_bound,
            reverse_delta_lower_bound: self.delta_lower_bound,
            reverse_delta_upper_bound: self.delta_upper_bound,
        }
    }

    /// The bounds on the smaller of the two divergences, which is the informative one at this level.
    fn informative(&self) -> (f64, f64) {
        if self.level >= 0.0 {
            (self.delta_lower_bound, self.delta_upper_bound)
        } else {
            (self.reverse_delta_lower_bound, self.reverse_delta_upper_bound)
        }
    }
}

/// The accuracy at which a level's grid is no longer refined.
#[derive(Debug, Clone, Copy)]
pub struct Sharpness {
    /// The relative width of the informative divergence.
    pub relative: f64,
    /// The absolute width of the informative divergence. Either width is enough.
    pub absolute: f64,
    /// The number of points of the finest grid.
    pub most_points: usize,
}

/// Evaluates levels of one pair with a fixed set of cells.
pub struct LevelEvaluator<'a> {
    pair: &'a ShiftPair,
    cells: &'a Cells,
    merged: Cells,
    planner: RealFftPlanner<f64>,
}

impl<'a> LevelEvaluator<'a> {
    /// An evaluator with its own Fourier plans. Each thread needs one.
    pub fn new(pair: &'a ShiftPair, cells: &'a Cells) -> Self {
        Self { pair, cells, merged: cells.merged(MERGED), planner: RealFftPlanner::new() }
    }

    /// The point at `level`, and the work that it took.
    ///
    /// The grid is refined until it is accurate enough, at its finest, or the next one would take more than `allowed`
    /// units of work. The point of every grid is valid.
    pub fn evaluate(
        &mut self,
        level: f64,
        sharpness: &Sharpness,
        allowed: f64,
    ) -> Result<(LevelPoint, f64), OutOfReach> {
        let mut spent = self.window_work(level);
        if spent + self.grid_work(FEWEST_POINTS) > allowed {
            return Err(OutOfReach);
        }
        let floor = -self.pair.minimum().0;
        let wide = self.merged.spread(self.pair, level);
        let window = Window::new(&wide, &self.merged.masses, self.pair.groups(), floor, level);
        let spreads = self.cells.spread(self.pair, level);
        let mut points = window.least_points().clamp(FEWEST_POINTS, sharpness.most_points);
        while points > FEWEST_POINTS && spent + self.grid_work(points) > allowed {
            points /= 2;
        }
        loop {
            spent += self.grid_work(points);
            let point = self.on_grid(level, &spreads, window, points);
            let (lower, upper) = point.informative();
            let width = upper - lower;
            if width <= sharpness.absolute
                || width <= sharpness.relative * upper
                || points >= sharpness.most_points
            {
                return Ok((point, spent));
            }
            // The width decreases with the square of the step, down to the error of the cells.
            let wanted = sharpness.absolute.max(sharpness.relative * upper);
            let factor = (width / wanted).sqrt().clamp(2.0, 16.0);
            points = (points * (factor as usize).next_power_of_two()).min(sharpness.most_points);
            if spent + self.grid_work(points) > allowed {
                return Ok((point, spent));
            }
        }
    }

    /// The units of work to find a level's window. Most of the work is computing the level's moments at many tilts.
    fn window_work(&self, level: f64) -> f64 {
        let tilts = match (level < 0.0, self.pair.absent() > 0.0) {
            (true, true) => 100.0,
            (true, false) => 150.0,
            (false, _) => 40.0,
        };
        let groups = self.pair.groups().len() as f64;
        15.0 * tilts * groups * self.merged.masses.len() as f64 + 40.0 * self.cells.masses.len() as f64
    }

    /// The units of work for a grid of `points` points: four transforms per group, two powers, and every cell.
    fn grid_work(&self, points: usize) -> f64 {
        let groups = self.pair.groups();
        let powers = if groups.len() > 1 { 8.0 } else { 5.0 };
        let each = |group: &WeightGroup| {
            let transforms = 3.0 * (points as f64).log2() + 25.0;
            points as f64 * (transforms + powers * (group.batches as f64 + 1.0).log2())
                + 120.0 * self.cells.masses.len() as f64
        };
        groups.iter().map(each).sum()
    }

    /// The point at `level`, with the sum's law on a grid of `points` points.
    fn on_grid(&mut self, level: f64, spreads: &[Spread], window: Window, points: usize) -> LevelPoint {
        let groups = self.pair.groups();
        let largest = groups.iter().map(|group| group.weight).fold(0.0, f64::max);
        let floor = -self.pair.minimum().0;
        let grid = Grid { step: (window.below + window.above) / (points - 4) as f64, window, points };
        let transform = Transform::new(&mut self.planner, points);
        let (escape_below, escape_above) = window.escapes(grid.step);

        let terms: Vec<Term> = groups
            .iter()
            .map(|group| {
                let GridTerm { law, log_moment, clipped } =
                    grid.term(spreads, &self.cells.masses, group.weight / largest);
                let positive = law.rest.iter().sum();
                let clipped = clipped + self.cells.beyond.base;
                Term { clipped, positive, log_moment, spectrum: transform.of_term(law) }
            })
            .collect();

        // Above the last cell a term is taken as decisive, although it may not be.
        let smallest = groups.iter().map(|group| group.weight).fold(f64::INFINITY, f64::min);
        let top = spreads[spreads.len() - 1].high * smallest / largest;
        let undecided = if top >= window.clip { CellMass::default() } else { self.cells.beyond };

        let all: Vec<_> =
            terms.iter().zip(groups).map(|(term, group)| (&term.spectrum[..], group.batches)).collect();
        let sums = transform.sums_without_one(&all);

        let mut totals = Totals::default();
        for (i, (group, sum)) in groups.iter().zip(&sums).enumerate() {
            let others = || {
                let count = |(j, group): (usize, &WeightGroup)| group.batches - u64::from(i == j);
                terms.iter().zip(groups.iter().enumerate().map(count))
            };
            let over_others = |value: fn(&Term) -> f64| -> f64 {
                others().map(|(term, count)| count as f64 * value(term)).sum()
            };
            // Not limited to 1, because it also counts clipped terms that the others may outweigh.
            let rest_mass = over_others(|term| term.positive + term.clipped);
            let arithmetic = sum.round_off + MASS_ERROR * over_others(|_| 1.0);
            let undecided = over_others(|_| 1.0) * undecided.base;
            let escapes = escape_above + undecided + escape_below;
            let (signs, below_zero, above_zero) = if let Some(tilt) = window.tilt {
                let log_moment = over_others(|term| term.log_moment);
                let signs = grid.tilted_signs(sum, tilt, log_moment, floor);
                let untilted = |most: f64| escapes + arithmetic * (log_moment + tilt * most).exp();
                (signs, untilted(2.0 * grid.step), untilted(0.0))
            } else {
                let decided = -over_others(|term| (-term.clipped).ln_1p()).exp_m1();
                let rare = escape_above
                    + undecided
                    + rest_mass * (escape_below + TAIL_ERROR)
                    + rest_mass.min(1.0) * arithmetic;
                (grid.signs(sum, decided, floor), rare, escapes + arithmetic)
            };
            let window_end = window.below + 2.0 * grid.step;
            let tilt = window.tilt.unwrap_or(0.0);
            let doubt = Doubt { below_zero, above_zero, decisive: escape_below, window: window_end, tilt };
            let part = Part {
                signs,
                doubt,
                scale: group.weight / largest,
                share: group.weight * group.batches as f64,
                value_share: largest * group.batches as f64,
            };
            totals.add(spreads, &self.cells.masses, &part);
        }
        totals.finish(level, self.pair.log_scale(level), &self.cells.beyond, &undecided)
    }
}

/// One group's term: its spectrum, the clipped mass, and the mass above zero and below the clip.
struct Term {
    spectrum: Vec<SplitPoint>,
    clipped: f64,
    positive: f64,
    /// The logarithm of the moment by which a tilted law was divided.
    log_moment: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian::Gaussian;
    use misdeal_core::{Setting, Stream, World};

    const SHARP: Sharpness = Sharpness { relative: 1e-3, absolute: 0.0, most_points: 1 << 17 };

    fn at(pair: &ShiftPair, level: f64) -> LevelPoint {
        let cells = Cells::new(pair, 256);
        LevelEvaluator::new(pair, &cells).evaluate(level, &SHARP, f64::INFINITY).unwrap().0
    }

    fn assert_brackets(point: &LevelPoint, delta: f64, reverse_delta: f64) {
        let readings = [
            (point.delta_lower_bound, delta, point.delta_upper_bound),
            (point.reverse_delta_lower_bound, reverse_delta, point.reverse_delta_upper_bound),
        ];
        for (low, exact, high) in readings {
            assert!(
                low <= exact && exact <= high && high - low <= 1.1e-3 * high,
                "{low} {exact} {high} {point:?}"
            );
        }
    }

    #[test]
    fn one_batch_is_the_gaussian_pair() {
        for noise in [0.2, 0.5, 1.0, 4.0] {
            let exact = Gaussian::fixed_order(noise, 1);
            for pair in [ShiftPair::shuffle(noise, 1).unwrap(), ShiftPair::balls_in_bins(noise, 1).unwrap()] {
                for level in [0.1, 1.0, 3.0].map(|deviations| deviations / noise) {
                    let delta = exact.delta(level);
                    let far = 1.0 - (-level).exp() * (1.0 - delta);
                    assert_brackets(&at(&pair, level), delta, far);
                    assert_brackets(&at(&pair, -level), far, delta);
                }
            }
        }
    }

    /// Compares with two-dimensional quadrature (`testdata/scripts/two_batches.py`).
    #[test]
    fn two_batches_agree_with_quadrature() {
        #[derive(serde::Deserialize)]
        struct Golden {
            divergences: Vec<[f64; 7]>,
        }
        let golden: Golden = toml::from_str(include_str!("../../../../testdata/two_batches.toml")).unwrap();
        assert!(golden.divergences.len() > 10);
        for [noise, weight, present, absent, level, delta, reverse_delta] in golden.divergences {
            let groups = [weight, 1.0 - weight].map(|weight| WeightGroup { weight, batches: 1 });
            let pair = ShiftPair::with_groups(noise, present, absent, &groups).unwrap();
            assert_brackets(&at(&pair, level), delta, reverse_delta);
        }
    }

    /// Frequencies of L > level and means of (1 - e^(level - L))+ among 2^16 epochs of each world. Each of 48 checks is
    /// a mean of values in [0, 1] with a limit of 5.6 standard deviations, so the false-alarm rate is 1e-6. The rounded
    /// event is not exactly {L > level}: its probabilities may differ by 1 %.
    #[test]
    fn agrees_with_simulation() {
        let cases = [(0.5, 60, [-1.0, 1.0, 4.0]), (1.0, 60, [-0.3, 0.1, 1.0]), (3.3, 60, [-0.1, 0.0, 0.05])];
        let trials = 1_u64 << 16;
        for (seed, (noise, steps, levels)) in cases.into_iter().enumerate() {
            let stream = Stream::new(&Setting { seed: seed as u64, ..Setting::default() }.hash());
            for pair in
                [ShiftPair::shuffle(noise, steps).unwrap(), ShiftPair::balls_in_bins(noise, steps).unwrap()]
            {
                let loss = |world: World, trial: u64| {
                    let shift = if world == World::In { pair.present() } else { pair.absent() };
                    let mut sums = [0.0; 2];
                    for t in 0..steps as u32 {
                        let y = noise * stream.gaussian(world, trial, t) + if t == 0 { shift } else { 0.0 };
                        for (sum, mean) in sums.iter_mut().zip([pair.present(), pair.absent()]) {
                            *sum += ((mean * y - 0.5 * mean * mean) / (noise * noise)).exp();
                        }
                    }
                    f64::ln(sums[0] / sums[1])
                };
                let losses =
                    [World::In, World::Out].map(|world| (0..trials).map(|i| loss(world, i)).collect());
                let [losses_in, losses_out]: [Vec<f64>; 2] = losses;
                for level in levels {
                    let point = at(&pair, level);
                    let check = |losses: &[f64], value: &dyn Fn(f64) -> f64, low: f64, high: f64| {
                        let n = losses.len() as f64;
                        let mean = losses.iter().map(|&l| value(l)).sum::<f64>() / n;
                        let square = losses.iter().map(|&l| value(l).powi(2)).sum::<f64>() / n;
                        let margin = 5.6 * ((square - mean * mean).max(1.0 / n) / n).sqrt();
                        let close = low - margin <= mean && mean <= high + margin;
                        assert!(close, "{noise} {level}: {mean} for {low} {high}");
                    };
                    let exceeds = |loss: f64| f64::from(u8::from(loss > level));
                    check(&losses_in, &exceeds, 0.99 * point.present, 1.01 * point.present);
                    check(&losses_out, &exceeds, 0.99 * point.absent, 1.01 * point.absent);
                    let excess = |loss: f64| (1.0 - (level - loss).exp()).max(0.0);
                    check(&losses_in, &excess, point.delta_lower_bound, point.delta_upper_bound);
                }
            }
        }
    }
}
