//! One level of the privacy loss: the probabilities of {L > level} and the hockey-stick divergence, from both sides.

use super::cells::{CellMass, Cells, Spread};
use super::shift_pair::{ShiftPair, WeightGroup};
use super::sign_law::{Grid, SignLaw, Signed};
use super::sum_law::{SplitPoint, Transform};
use super::window::Window;
use realfft::RealFftPlanner;

/// Fine cells that are merged into one where only the window is sized.
const MERGED: usize = 8;

/// The coarsest grid.
const FEWEST_POINTS: usize = 1 << 12;

/// Relative error allowed for the sums over cells, whose terms are accurate to about 1e-14.
const ARITHMETIC: f64 = 1e-12;

/// What is known of a pair at one level l: an event close to {L > l} and bounds on both divergences.
///
/// The term g is spread to cell ends and then rounded at random, without bias, to a grid. Let A be the event that
/// the rounded sum is positive. It is a test like any other, and the rounded terms are larger in convex order, so
///
/// ```text
/// P(A) - e^l Q(A)  <=  delta(l) = E_0 (sum w g)+  <=  E_0 (sum w rounded g)+,
/// ```
///
/// and both ends differ from delta(l) by O(step^2) only. The same holds for the reverse divergence
/// Q(L < l) - e^-l P(L < l) with the complement of A. Window and round-off errors are on the safe side of each field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelPoint {
    /// The level l.
    pub level: f64,
    /// P(A), not above.
    pub present: f64,
    /// Q(A), not below.
    pub absent: f64,
    /// P(not A), not below.
    pub present_complement: f64,
    /// Q(not A), not above.
    pub absent_complement: f64,
    /// P(L > l) - e^l Q(L > l): at least this.
    pub delta_lower_bound: f64,
    /// At most this.
    pub delta_upper_bound: f64,
    /// Q(L < l) - e^-l P(L < l): at least this.
    pub reverse_delta_lower_bound: f64,
    /// At most this.
    pub reverse_delta_upper_bound: f64,
}

impl LevelPoint {
    /// The same knowledge for the pair with P and Q exchanged, at the level -l.
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

    /// The smaller of the two divergences, which is the one that says something at this level.
    fn informative(&self) -> (f64, f64) {
        if self.level >= 0.0 {
            (self.delta_lower_bound, self.delta_upper_bound)
        } else {
            (self.reverse_delta_lower_bound, self.reverse_delta_upper_bound)
        }
    }
}

/// How sharp a level has to be before its grid is refined no further.
#[derive(Debug, Clone, Copy)]
pub struct Sharpness {
    /// Relative width of the informative divergence.
    pub relative: f64,
    /// Or its absolute width.
    pub absolute: f64,
    /// The finest grid.
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
    /// An evaluator that owns its Fourier plans: one for each thread.
    pub fn new(pair: &'a ShiftPair, cells: &'a Cells) -> Self {
        Self { pair, cells, merged: cells.merged(MERGED), planner: RealFftPlanner::new() }
    }

    /// The point at `level`, on a grid that is refined until it is sharp enough or at its finest.
    pub fn evaluate(&mut self, level: f64, sharpness: &Sharpness) -> LevelPoint {
        let floor = -self.pair.minimum().0;
        let wide = self.merged.spread(self.pair, level);
        let window =
            Window::new(&wide, &self.merged.masses, self.pair.groups(), floor, 38.0 + level.abs());
        let spreads = self.cells.spread(self.pair, level);
        let mut points = window.least_points().clamp(FEWEST_POINTS, sharpness.most_points);
        loop {
            let point = self.on_grid(level, &spreads, window, points);
            let (lower, upper) = point.informative();
            let width = upper - lower;
            if width <= sharpness.absolute
                || width <= sharpness.relative * upper
                || points >= sharpness.most_points
            {
                return point;
            }
            // The width falls with the square of the step, down to what the cells cost.
            let wanted = sharpness.absolute.max(sharpness.relative * upper);
            let factor = (width / wanted).sqrt().clamp(2.0, 16.0);
            points = (points * (factor as usize).next_power_of_two()).min(sharpness.most_points);
        }
    }

    /// The point at `level`, with the sum's law on `points` points.
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
                let (law, clipped) = grid.term(spreads, &self.cells.masses, group.weight / largest);
                let positive = law.rest.iter().sum();
                Term { clipped: clipped + self.cells.beyond.base, positive, spectrum: transform.of_term(law) }
            })
            .collect();

        // Above the last cell a term is taken as decisive, which it may not be.
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
            let decided = -over_others(|term| (-term.clipped).ln_1p()).exp_m1();
            let rest_mass = over_others(|term| term.positive).min(1.0);
            let scale = group.weight / largest;
            let undecided = over_others(|_| 1.0) * undecided.base;
            let doubt = Doubt {
                below_zero: escape_above + undecided + rest_mass * (escape_below + sum.round_off),
                above_zero: escape_above + undecided + escape_below + sum.round_off,
                decisive: escape_below,
                window: window.below + 2.0 * grid.step,
            };
            let signs = grid.signs(sum, decided, floor);
            totals.add(spreads, &self.cells.masses, &signs, &doubt, scale, group, largest);
        }
        totals.finish(level, self.pair.log_scale(level), &self.cells.beyond, &undecided)
    }
}

/// One group's term: its spectrum, the mass that was clipped and the mass above zero below the clip.
struct Term {
    spectrum: Vec<SplitPoint>,
    clipped: f64,
    positive: f64,
}

/// Bounds on the error of P(x + S > 0) for a target's term x.
struct Doubt {
    below_zero: f64,
    above_zero: f64,
    /// For x beyond the window, where the probability was not summed but taken as one.
    decisive: f64,
    window: f64,
}

impl Doubt {
    /// The error for any term between `low` and `high`.
    fn over(&self, low: f64, high: f64) -> f64 {
        if low >= self.window {
            return self.decisive;
        }
        let below = if low < 0.0 { self.below_zero } else { 0.0 };
        let above = if high > 0.0 { self.above_zero } else { 0.0 };
        below + above
    }
}

/// Expectations over the target's cell and group; values are in units of the scaled term.
#[derive(Default)]
struct Totals {
    present: f64,
    absent: f64,
    present_complement: f64,
    absent_complement: f64,
    positive_value: f64,
    negative_value: f64,
    present_error: f64,
    absent_error: f64,
    value_error: f64,
}

impl Totals {
    #[allow(clippy::too_many_arguments)]
    fn add(
        &mut self,
        spreads: &[Spread],
        masses: &[CellMass],
        signs: &SignLaw,
        doubt: &Doubt,
        scale: f64,
        group: &WeightGroup,
        largest: f64,
    ) {
        let share = group.weight * group.batches as f64;
        let value_share = largest * group.batches as f64;
        for (spread, mass) in spreads.iter().zip(masses) {
            let low = signs.at(spread.low * scale);
            let high = signs.at(spread.high * scale);
            let mix = |part: fn(&Signed) -> f64| {
                part(&low) + spread.high_share * (part(&high) - part(&low))
            };
            let (positive, negative) = (share * mix(|s| s.positive), share * mix(|s| s.negative));
            self.present += mass.present * positive;
            self.absent += mass.absent * positive;
            self.present_complement += mass.present * negative;
            self.absent_complement += mass.absent * negative;
            let base = mass.base * value_share;
            self.positive_value += base * mix(|s| s.positive_value);
            self.negative_value += base * mix(|s| s.negative_value);
            let error = doubt.over(spread.low * scale, spread.high * scale);
            self.present_error += share * mass.present * error;
            self.absent_error += share * mass.absent * error;
            self.value_error += base * scale * spread.low.abs().max(spread.high.abs()) * error;
        }
    }

    fn finish(&self, level: f64, log_scale: f64, beyond: &CellMass, undecided: &CellMass) -> LevelPoint {
        let unit = log_scale.exp();
        let odds = level.exp();
        let present_sum = self.present + beyond.present;
        let absent_sum = self.absent + beyond.absent;
        let arithmetic = ARITHMETIC * (present_sum + odds * absent_sum);
        let reverse_arithmetic = ARITHMETIC * (self.absent_complement + self.present_complement / odds);
        let present_error = self.present_error + undecided.present;
        let absent_error = self.absent_error + undecided.absent;
        let value_error = unit * self.value_error + undecided.present;
        let (less, more) = (1.0 - ARITHMETIC, 1.0 + ARITHMETIC);
        let present = (present_sum * less - present_error).max(0.0);
        let absent = absent_sum * more + absent_error;
        let present_complement = self.present_complement * more + present_error;
        let absent_complement = (self.absent_complement * less - absent_error).max(0.0);
        LevelPoint {
            level,
            present,
            absent,
            present_complement,
            absent_complement,
            delta_lower_bound: (present - odds * absent).max(0.0),
            delta_upper_bound: (unit * self.positive_value + beyond.present + value_error + arithmetic).min(1.0),
            reverse_delta_lower_bound: (absent_complement - present_complement / odds).max(0.0),
            reverse_delta_upper_bound: ((unit * self.negative_value + value_error) / odds + reverse_arithmetic)
                .min(1.0),
        }
    }
}
