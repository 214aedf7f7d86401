//! The law of one step's term X: exact stop-loss values, spread to a few atoms.

use crate::quadrature::FIVE_NODES;
use libm::{exp, expm1};
use misdeal_core::normal;

/// The two worlds that are compared, and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worlds {
    /// Present against zeroed out.
    Present,
    /// Zeroed out against present.
    ZeroedOut,
    /// One record against another one in its place. Both orders are alike.
    Replaced,
}

/// One side of a term: `e^log_scale e^(power w) (e^w - 1)` with `w = rate (y - from) >= 0`, for y ~ N(0, s^2).
#[derive(Debug, Clone, Copy)]
struct Part {
    log_scale: f64,
    power: f64,
    rate: f64,
    /// The output at which this side begins.
    from: f64,
    /// Beyond an output, the mean of the positive side is at most the tail of N(tail_centre, s^2).
    tail_centre: f64,
}

impl Part {
    fn at(&self, y: f64) -> f64 {
        let w = self.rate * (y - self.from);
        exp(self.log_scale + self.power * w) * expm1(w)
    }
}

impl Worlds {
    /// The positive and the negative side of the term at the level `level >= 0`.
    ///
    /// With L_c = exp((c y - c^2/2)/s^2) and g = e^level they are (L_2 - g L_1, g L_1 - 1) for a present record,
    /// (L_1 - g, g L_2 - L_1) for a record that is zeroed out, and (L_2 - g, g L_2 - 1) for a replaced one.
    fn parts(self, noise: f64, level: f64) -> [Part; 2] {
        let v = noise * noise;
        let part = |log_scale, power, rate: f64, from, tail_centre| Part {
            log_scale,
            power,
            rate: rate / v,
            from,
            tail_centre,
        };
        match self {
            Worlds::Present => [
                part(2.0 * level + 1.0 / v, 1.0, 1.0, 1.5 + v * level, 2.0),
                part(0.0, 0.0, 1.0, 0.5 - v * level, 1.0),
            ],
            Worlds::ZeroedOut => [
                part(level, 0.0, 1.0, 0.5 + v * level, 1.0),
                part(1.0 / v - level, 1.0, 1.0, 1.5 - v * level, 2.0),
            ],
            Worlds::Replaced => [
                part(level, 0.0, 2.0, 1.0 + 0.5 * v * level, 2.0),
                part(0.0, 0.0, 2.0, 1.0 - 0.5 * v * level, 2.0),
            ],
        }
    }
}

/// Atoms of a law that is at least the term's in increasing convex order, but for [`TermLaw::beyond`].
///
/// Every mass is at least the exact one up to a relative error of [`MASS_ERROR`], and no atom lies too low.
#[derive(Debug, Clone)]
pub(super) struct TermLaw {
    /// Positions and masses of the atoms below zero, by their absolute values, ascending.
    pub negative: Vec<(f64, f64)>,
    /// Positions and masses of the atoms from zero on, ascending.
    pub positive: Vec<(f64, f64)>,
    /// What the mean of the positive side has beyond its last atom, never too small.
    pub beyond: f64,
    /// The mean of the whole positive side, never too small.
    pub mean_positive: f64,
}

/// The relative error of masses and of their shares of cells.
pub(super) const MASS_ERROR: f64 = 1e-12;
/// The error of the position of an atom, relative to itself and to the scale of its side.
const POSITION_ERROR: f64 = 1e-13;
/// The atoms of the negative side end where its normal law has this tail. Cutting it raises the bound.
const NEGATIVE_TAIL: f64 = 3e-7;
/// Outputs this many deviations below zero count as a term of zero on the negative side.
const LOWEST: f64 = 9.5;

impl TermLaw {
    /// The law with atoms whose distances are about the share `width`, leaving out a mean of about `tail` above.
    pub fn new(worlds: Worlds, noise: f64, level: f64, width: f64, tail: f64) -> Self {
        let [up, down] = worlds.parts(noise, level);
        let quantile = |tail: f64| -noise * normal::lower_quantile(tail.clamp(1e-300, 0.4));
        let mean_beyond = |y: f64| normal::cdf((up.tail_centre - y) / noise) * (1.0 + MASS_ERROR);
        let (top, bottom) = (up.tail_centre + quantile(tail), down.tail_centre + quantile(NEGATIVE_TAIL));
        let start = down.from.max(-LOWEST * noise);
        let mut law = TermLaw {
            negative: if bottom > start { atoms(&down, noise, [start, bottom], width) } else { Vec::new() },
            positive: if top > up.from { atoms(&up, noise, [up.from, top], width) } else { Vec::new() },
            beyond: mean_beyond(top.max(up.from)),
            mean_positive: mean_beyond(up.from),
        };
        // A term is zero otherwise. More mass there raises the bound, so the rounding of the difference is added.
        let above = if law.positive.is_empty() { 0.0 } else { normal::cdf(-up.from / noise) };
        let below = if law.negative.is_empty() { 0.0 } else { normal::cdf(-start / noise) };
        law.positive.insert(0, (0.0, (1.0 - above - below).max(0.0) + 8.0 * f64::EPSILON));
        let error = |part: &Part, position: f64| POSITION_ERROR * (position + exp(part.log_scale));
        for (position, _) in &mut law.positive {
            *position += error(&up, *position);
        }
        for (position, _) in &mut law.negative {
            *position = (*position - error(&down, *position)).max(0.0);
        }
        law
    }
}

/// The atoms of one side for outputs from `start` on: every cell's mass goes to its ends and keeps its mean.
///
/// All outputs beyond `end` count as `end`.
fn atoms(part: &Part, noise: f64, [start, end]: [f64; 2], width: f64) -> Vec<(f64, f64)> {
    let widest = (width / ((part.power + 1.0) * part.rate * noise)).min(0.1);
    let mut atoms = vec![(part.at(start), 0.0)];
    let (mut z, last) = (start / noise, end / noise);
    while z < last {
        let next = (z + widest.min(REACH / (z.abs() + 2.0))).min(last);
        let (low, high) = (atoms[atoms.len() - 1].0, part.at(noise * next));
        let (mut mass, mut share) = (0.0, 0.0);
        for &[node, weight] in &FIVE_NODES {
            let at = z + node * (next - z);
            let density = weight * normal::density(at);
            mass += density;
            share += density * ((part.at(noise * at) - low) / (high - low)).clamp(0.0, 1.0);
        }
        let (mass, share) = (mass * (next - z), share * (next - z));
        if let Some(atom) = atoms.last_mut() {
            atom.1 += mass - share;
        }
        atoms.push((high, share));
        z = next;
    }
    if let Some(atom) = atoms.last_mut() {
        atom.1 += normal::cdf(-last);
    }
    atoms
}

/// The widest cell of the quadrature, in deviations times the distance from the centre.
const REACH: f64 = 0.5;
