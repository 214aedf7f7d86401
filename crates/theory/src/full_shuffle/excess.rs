//! An upper bound on E (c + V_1 + ... + V_n)+ for independent terms with few atoms, by a Fourier transform.
//!
//! The terms are tilted by e^(t V) until the sum's mean is zero, so that no part that matters is rare. Rounding to the
//! grid spreads every atom to its two neighbours and keeps its mean, so it raises the value. What wraps from below is
//! counted as positive, which also raises it. What the window leaves out above is added by Chernoff's bound, and so is
//! the largest effect of round-off.

use super::term::MASS_ERROR;
use crate::pld::{fast_length, power};
use libm::{ceil, exp, floor, log, sqrt};

/// The tilted mass that may lie above the window. Its largest effect is added.
const ABOVE: f64 = 1e-9;
/// The tilted mass that may lie below the window. It wraps to the top, where it weighs most.
const BELOW: f64 = 1e-13;
/// The share by which rounding to the grid may raise the value, if the grid's size allows it.
const RAISED: f64 = 4e-3;
/// The fewest points of a grid.
const FEWEST_POINTS: usize = 512;
/// One term's atoms may span this many windows.
const MOST_WINDOWS: f64 = 4.0;
const UNIT_ROUND_OFF: f64 = f64::EPSILON / 2.0;

/// A sum of independent terms that are alike, and a constant.
#[derive(Debug)]
pub(super) struct Sum {
    /// Positions and masses of a term's atoms, ascending.
    pub atoms: Vec<(f64, f64)>,
    pub terms: u64,
    pub constant: f64,
}

/// ln E e^(t V) and its first two derivatives, which are the mean and the variance of the tilted term.
#[derive(Debug, Clone, Copy)]
struct Moment {
    log_value: f64,
    mean: f64,
    variance: f64,
}

fn moment(atoms: &[(f64, f64)], tilt: f64) -> Moment {
    let largest = if tilt > 0.0 { atoms[atoms.len() - 1].0 } else { atoms[0].0 };
    let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
    for &(position, mass) in atoms {
        let term = mass * exp(tilt * (position - largest));
        sum += term;
        first += term * position;
        second += term * position * position;
    }
    let mean = first / sum;
    Moment {
        log_value: tilt * largest + log(sum),
        mean,
        variance: (second / sum - mean * mean).max(f64::MIN_POSITIVE),
    }
}

impl Sum {
    /// The mean of the positive part on a grid of at most about `most` points; never too small.
    ///
    /// What the window leaves out may add about `tolerance`.
    pub fn positive_part(&self, most: usize, tolerance: f64) -> f64 {
        let n = self.terms as f64;
        let [lowest, highest] = [self.atoms[0].0, self.atoms[self.atoms.len() - 1].0];
        if self.constant + n * highest <= 0.0 {
            return 0.0;
        }
        let tilt = self.tilt();
        let at_tilt = moment(&self.atoms, tilt);
        if tilt > 0.0 {
            // x <= e^(t x) / (e t) for every x.
            let rough = exp(tilt * self.constant + n * at_tilt.log_value - 1.0 - log(tilt)) * (1.0 + 1e-6);
            if rough <= tolerance {
                return rough.max(f64::MIN_POSITIVE);
            }
        }
        let (top, steep) = self.end(tilt, at_tilt, 1.0, ABOVE);
        let (bottom, _) = self.end(tilt, at_tilt, -1.0, BELOW);
        let (top, bottom) = (top.min(n * highest), bottom.max(n * lowest));
        // The scale on which the value depends on the constant, without the rare large terms.
        let untilted = moment(&self.atoms, 0.0);
        let size: f64 = self.atoms.iter().map(|(position, mass)| position.abs() * mass).sum();
        let scale = f64::max((self.constant + n * untilted.mean).abs(), size * sqrt(n));
        let mut points = FEWEST_POINTS;
        loop {
            let step = ((top - bottom) / (points as f64 - 8.0)).max(f64::MIN_POSITIVE);
            let farthest = MOST_WINDOWS * (top - bottom);
            let grid = OnGrid::new(&self.atoms, step, farthest);
            let rounded = moment(&grid.atoms, tilt);
            let added = n * (moment(&grid.atoms, 0.0).variance - untilted.variance);
            let raised = n * (rounded.log_value - at_tilt.log_value) + 4.0 * added / (scale * scale);
            if raised < RAISED || points >= most {
                // (x + y)+ <= x+ + y for what the cut of the highest atoms leaves out.
                let cut = self.atoms.iter().map(|&(position, mass)| mass * (position - farthest).max(0.0));
                return self.on_grid(&grid, tilt, steep, [bottom, top]) + n * cut.sum::<f64>() * (1.0 + 1e-9);
            }
            // The rise is of the order of the step, or of its square.
            points = (points as f64 * (raised / RAISED).clamp(1.5, 8.0)).min(most as f64) as usize;
        }
    }

    /// The tilt at which the mean of the sum is zero, or zero if it is positive without one.
    fn tilt(&self) -> f64 {
        let n = self.terms as f64;
        let mean = |tilt: f64| self.constant + n * moment(&self.atoms, tilt).mean;
        let untilted = moment(&self.atoms, 0.0);
        let at_zero = self.constant + n * untilted.mean;
        if at_zero >= 0.0 {
            return 0.0;
        }
        // Newton's step for a normal sum is the first guess.
        let mut high = -at_zero / (n * untilted.variance);
        let mut low = 0.0;
        if mean(high) < 0.0 {
            while mean(high) < 0.0 && high * self.atoms[self.atoms.len() - 1].0 < 600.0 {
                low = high;
                high *= 2.0;
            }
        } else {
            low = 0.5 * high;
            while mean(low) > 0.0 {
                high = low;
                low *= 0.5;
            }
        }
        for _ in 0..5 {
            let middle = 0.5 * (low + high);
            if mean(middle) < 0.0 { low = middle } else { high = middle }
        }
        low
    }

    /// The place beyond which the tilted sum has at most `outside`, in one direction, and its Chernoff exponent.
    fn end(&self, tilt: f64, at_tilt: Moment, direction: f64, outside: f64) -> (f64, f64) {
        let n = self.terms as f64;
        let (place, t) = least_place(sqrt(-2.0 * log(outside) / (n * at_tilt.variance)), |t| {
            let further = moment(&self.atoms, tilt + direction * t).log_value;
            (n * (further - at_tilt.log_value) - log(outside)) / t
        });
        (direction * place, t)
    }

    /// The value for terms rounded to a grid, in a window of sums.
    fn on_grid(&self, grid: &OnGrid, tilt: f64, steep: f64, [bottom, top]: [f64; 2]) -> f64 {
        let (n, step) = (self.terms as f64, grid.step);
        let log_moment = moment(&grid.atoms, tilt).log_value;
        let tilted = grid.tilted(tilt, log_moment);
        let first = floor(bottom / step) as i64 - 2;
        let length = fast_length((ceil(top / step) as i64 + 3 - first).max(8) as usize);
        let (masses, error) = power(&tilted, grid.first, self.terms, first, length);
        // The constant is rounded up.
        let constant =
            self.constant + 8.0 * UNIT_ROUND_OFF * (self.constant.abs() + top.abs() + bottom.abs() + step);
        let value = |index: i64| constant + (first + index) as f64 * step;
        let positive_from = ((-constant / step).floor() as i64 + 1 - first).clamp(0, length as i64);
        let (mut sum, mut weights, mut squares) = (0.0, 0.0, 0.0);
        let fall = exp(-tilt * step);
        let mut factor = exp(-tilt * value(positive_from));
        for index in positive_from..length as i64 {
            let weight = factor * value(index).max(0.0);
            sum += masses[index as usize].max(0.0) * weight;
            weights += weight;
            squares += weight * weight;
            factor *= fall;
        }
        let exponent = tilt * (self.atoms[self.atoms.len() - 1].0 - self.atoms[0].0);
        let relative = n * (MASS_ERROR + UNIT_ROUND_OFF * (4.0 * log_moment.abs() + 2.0 * exponent))
            + 16.0 * UNIT_ROUND_OFF * (length as f64 + tilt * (top - bottom).abs() + (tilt * constant).abs());
        let log_scale = n * log_moment + tilt * constant;
        let in_window = (sum + error.on_sum(weights, squares.sqrt())) * exp(log_scale);
        // E[x; x >= end] <= E e^(t x) times the largest x e^(-t x) from there on.
        let (t, end) = (tilt + steep, value(length as i64));
        let largest = if t * end >= 1.0 { end * exp(-t * end) } else { exp(-1.0) / t };
        let above = exp(n * moment(&grid.atoms, t).log_value + t * constant + log(largest));
        ((in_window + above) * (1.0 + relative)).max(f64::MIN_POSITIVE)
    }
}

/// The least of a function with one minimum, and where it is, to about a tenth. The search begins at `start`.
fn least_place(start: f64, place: impl Fn(f64) -> f64) -> (f64, f64) {
    let (mut t, mut best) = (start, place(start));
    for factor in [0.5, 2.0, 0.8, 1.25] {
        for _ in 0..60 {
            let next = place(t * factor);
            if next.is_nan() || next >= best {
                break;
            }
            (t, best) = (t * factor, next);
        }
    }
    (best, t)
}

/// A term's atoms, spread to the points of a grid.
struct OnGrid {
    step: f64,
    first: i64,
    /// Positions and masses, ascending. A point may occur more than once.
    atoms: Vec<(f64, f64)>,
    indices: Vec<i64>,
}

impl OnGrid {
    /// The atoms spread to multiples of `step`, after they are moved to within `farthest` of zero.
    fn new(atoms: &[(f64, f64)], step: f64, farthest: f64) -> Self {
        let mut grid = OnGrid { step, first: 0, atoms: Vec::new(), indices: Vec::new() };
        for &(position, mass) in atoms {
            let exact = position.clamp(-farthest, farthest) / step;
            let index = floor(exact);
            // The rounding of the share goes to the upper point, and is not taken from the lower one.
            let share = exact - index;
            let rounding = 4.0 * UNIT_ROUND_OFF * (exact.abs() + 1.0);
            for (index, share) in [(index, 1.0 - share), (index + 1.0, share + rounding)] {
                grid.indices.push(index as i64);
                grid.atoms.push((index * step, mass * share));
            }
        }
        grid.first = grid.indices[0];
        grid
    }

    /// The tilted masses of all points from the first on.
    fn tilted(&self, tilt: f64, log_moment: f64) -> Vec<f64> {
        let last = self.indices.iter().copied().max().unwrap_or(self.first);
        let mut masses = vec![0.0; (last - self.first + 1) as usize];
        for (index, (position, mass)) in self.indices.iter().zip(&self.atoms) {
            masses[(index - self.first) as usize] += mass * exp(tilt * position - log_moment);
        }
        masses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E (c + sum)+ by direct convolution over all values.
    fn direct(sum: &Sum) -> f64 {
        let mut law = vec![(sum.constant, 1.0)];
        for _ in 0..sum.terms {
            let pairs = law.iter().flat_map(|&(x, p)| sum.atoms.iter().map(move |&(y, q)| (x + y, p * q)));
            law = pairs.collect();
        }
        law.iter().map(|(x, p)| p * x.max(0.0)).sum()
    }

    fn sums() -> Vec<Sum> {
        let heavy = vec![(-3.0, 0.3), (-0.4, 0.3), (0.0, 0.29), (1.7, 0.1), (60.0, 0.01), (900.0, 1e-5)];
        [-2.0, 5.0, -70.0, -1000.0, -2500.0]
            .map(|constant| Sum { atoms: heavy.clone(), terms: 5, constant })
            .into_iter()
            .collect()
    }

    #[test]
    fn is_never_below_direct_convolution() {
        for sum in sums() {
            let (exact, found) = (direct(&sum), sum.positive_part(1 << 14, 1e-12 * direct(&sum)));
            let case = sum.constant;
            assert!(exact * (1.0 - 1e-9) <= found && found < 1.02 * exact, "{case}: {found} {exact}");
        }
    }

    /// A window that is far too short, above or below: the bound is loose then, and still a bound.
    #[test]
    fn wraps_only_to_the_safe_side() {
        for sum in sums() {
            let exact = direct(&sum);
            let tilt = sum.tilt();
            let at_tilt = moment(&sum.atoms, tilt);
            let (top, steep) = sum.end(tilt, at_tilt, 1.0, ABOVE);
            let (bottom, _) = sum.end(tilt, at_tilt, -1.0, BELOW);
            for (low, high) in [(bottom, 0.05 * top), (0.05 * bottom, top), (0.1 * bottom, 0.1 * top)] {
                let grid = OnGrid::new(&sum.atoms, (high - low) / 3000.0, 1e4);
                let found = sum.on_grid(&grid, tilt, steep, [low, high]);
                assert!(found >= exact * (1.0 - 1e-9), "{}: {low} {high}: {found} {exact}", sum.constant);
            }
        }
    }
}
