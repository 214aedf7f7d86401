//! One batch's output, cut into cells: cell masses under three laws, and the term's law at cell ends.

use super::shift_pair::ShiftPair;
use crate::work::{OutOfReach, Work};
use misdeal_core::normal;

/// The cells end this many standard deviations beyond the outermost means. The mass outside is below 1e-23.
const REACH: f64 = 10.0;

/// The real line, cut at equally spaced edges, with the masses of N(0, s^2), N(b, s^2) and N(a, s^2) per cell.
///
/// Cell 0 reaches down to minus infinity. `beyond` holds the masses above the last edge.
#[derive(Debug, Clone)]
pub struct Cells {
    upper_edges: Vec<f64>,
    /// The factors e^(a (edge - centre)/s^2) and e^(b (edge - centre)/s^2) at each edge.
    edge_factors: Vec<[f64; 2]>,
    /// The conditional means of the factors in `edge_factors` in each cell, under N(0, s^2).
    mean_factors: Vec<[f64; 2]>,
    /// The masses under N(0, s^2), N(a, s^2), N(b, s^2).
    pub masses: Vec<CellMass>,
    /// The masses above the last edge.
    pub beyond: CellMass,
    centre: f64,
}

/// The probability of one cell: for a batch without the target, and for the target's batch under P and under Q.
#[derive(Debug, Clone, Copy, Default)]
pub struct CellMass {
    /// The mass under N(0, s^2).
    pub base: f64,
    /// The mass under N(a, s^2).
    pub present: f64,
    /// The mass under N(b, s^2).
    pub absent: f64,
}

/// The term's law in one cell, replaced by two points with the same mean.
///
/// The points are `low` and `high`, and `high` has probability `high_share`. No law on [low, high] with this mean is
/// larger in convex order.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    /// The smallest value in the cell.
    pub low: f64,
    /// The largest value in the cell.
    pub high: f64,
    /// The conditional probability of `high`, given the cell.
    pub high_share: f64,
}

/// The units of work for a cell and its masses under three laws.
const PER_CELL: f64 = 300.0;

impl Cells {
    /// The cells as in [`new`](Self::new), if the remaining `work` pays for them.
    pub fn within(pair: &ShiftPair, per_deviation: u32, work: &Work) -> Result<Self, OutOfReach> {
        let deviations = 2.0 * REACH + pair.present() / pair.noise_multiplier();
        work.charge(PER_CELL * deviations * f64::from(per_deviation))?;
        Ok(Self::new(pair, per_deviation))
    }

    /// Cells of width s / `per_deviation`.
    ///
    /// They reach from `REACH` deviations below 0 to `REACH` deviations above the largest mean.
    pub fn new(pair: &ShiftPair, per_deviation: u32) -> Self {
        let s = pair.noise_multiplier();
        let shifts = [pair.present(), pair.absent()];
        let first = -REACH * s;
        let deviations = 2.0 * REACH + pair.present() / s;
        let count = (deviations * f64::from(per_deviation)).ceil() as usize;
        let width = s / f64::from(per_deviation);
        let upper_edges: Vec<f64> = (0..=count).map(|i| first + width * i as f64).collect();
        let centre = first + 0.5 * width * count as f64;
        let log_factor = |shift: f64, y: f64| shift * (y - centre) / (s * s);
        let edge_factors =
            upper_edges.iter().map(|&y| shifts.map(|shift| log_factor(shift, y).exp())).collect();
        let mass = |i: usize| {
            let below = |mean: f64| match i {
                0 => normal::cdf((first - mean) / s),
                _ => interval_mass((upper_edges[i - 1] - mean) / s, (upper_edges[i] - mean) / s),
            };
            CellMass { base: below(0.0), present: below(shifts[0]), absent: below(shifts[1]) }
        };
        let masses: Vec<CellMass> = (0..=count).map(mass).collect();
        let mean_factors = masses
            .iter()
            .map(|mass| {
                let likelihood_to_factor = |shift: f64| (log_factor(shift, 0.5 * shift)).exp();
                [
                    mass.present / mass.base * likelihood_to_factor(shifts[0]),
                    mass.absent / mass.base * likelihood_to_factor(shifts[1]),
                ]
            })
            .collect();
        let above = |mean: f64| normal::cdf((mean - upper_edges[count]) / s);
        let beyond = CellMass { base: above(0.0), present: above(shifts[0]), absent: above(shifts[1]) };
        Self { upper_edges, edge_factors, mean_factors, masses, beyond, centre }
    }

    /// These cells, with each `factor` neighbours merged into one.
    pub fn merged(&self, factor: usize) -> Self {
        let last = self.masses.len() - 1;
        // Cell 0 is unbounded and stays alone; the others are merged from the left.
        let ends: Vec<usize> =
            std::iter::once(0).chain((1..last).filter(|i| i % factor == 0)).chain([last]).collect();
        let mut merged = Self {
            upper_edges: ends.iter().map(|&i| self.upper_edges[i]).collect(),
            edge_factors: ends.iter().map(|&i| self.edge_factors[i]).collect(),
            mean_factors: Vec::new(),
            masses: Vec::new(),
            ..*self
        };
        let mut start = 0;
        for end in ends {
            let (mut mass, mut factors) = (CellMass::default(), [0.0; 2]);
            for (cell, means) in self.masses[start..=end].iter().zip(&self.mean_factors[start..=end]) {
                mass.base += cell.base;
                mass.present += cell.present;
                mass.absent += cell.absent;
                factors = [0, 1].map(|k| factors[k] + cell.base * means[k]);
            }
            merged.mean_factors.push(factors.map(|sum| sum / mass.base));
            merged.masses.push(mass);
            start = end + 1;
        }
        merged
    }

    /// The scaled term's two-point law at a level, for each cell.
    pub fn spread(&self, pair: &ShiftPair, level: f64) -> Vec<Spread> {
        let s = pair.noise_multiplier();
        let crossing = pair.crossing(level);
        let to_crossing =
            [pair.present(), pair.absent()].map(|a| (a * (self.centre - crossing) / (s * s)).exp());
        let value = |factors: &[f64; 2]| to_crossing[0] * factors[0] - to_crossing[1] * factors[1];
        let (minimum, offset) = pair.minimum();
        let minimum_at = crossing + offset;
        let mut left: f64 = if pair.absent() == 0.0 { -1.0 } else { 0.0 };
        let mut left_edge = f64::NEG_INFINITY;
        let mut spreads = Vec::with_capacity(self.masses.len());
        for i in 0..self.masses.len() {
            let right = value(&self.edge_factors[i]);
            let right_edge = self.upper_edges[i];
            let has_minimum = left_edge < minimum_at && minimum_at < right_edge;
            let low = if has_minimum { minimum } else { left.min(right) };
            let high = left.max(right);
            let mean = value(&self.mean_factors[i]);
            let high_share = if high > low { ((mean - low) / (high - low)).clamp(0.0, 1.0) } else { 1.0 };
            spreads.push(Spread { low, high, high_share });
            left = right;
            left_edge = right_edge;
        }
        spreads
    }
}

/// P(z0 < Z <= z1) for a short interval, by five-point Gauss-Legendre quadrature.
///
/// The relative error is below 1e-14 for widths up to 1/64 and |z| up to 40. The rounding of z adds 2 z^2 units of
/// round-off.
fn interval_mass(z0: f64, z1: f64) -> f64 {
    const NODES: [(f64, f64); 5] = [
        (0.0, 0.5688888888888889),
        (-0.5384693101056831, 0.47862867049936647),
        (0.5384693101056831, 0.47862867049936647),
        (-0.9061798459386640, 0.23692688505618909),
        (0.9061798459386640, 0.23692688505618909),
    ];
    let (middle, half) = (0.5 * (z0 + z1), 0.5 * (z1 - z0));
    NODES.iter().map(|(node, weight)| weight * normal::density(middle + half * node)).sum::<f64>() * half
}
