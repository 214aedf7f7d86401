//! One step of the subsampled Gaussian: its privacy loss and the masses of the loss's cells.

use crate::gaussian::Gaussian;
use crate::pld::{Cells, LossGrid, Masses};
use libm::{ceil, exp, expm1, log, log1p};
use misdeal_core::{Error, Result, check_noise_multiplier, normal};

/// The pair P = (1-q) N(0, s^2) + q N(1, s^2) against Q = N(0, s^2).
///
/// With x = (y - 1/2)/s^2, the loss at the output y is L = ln(1 - q + q e^x). It increases from ln(1-q).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubsampledGaussian {
    noise: f64,
    probability: f64,
}

/// The range of losses that a grid covers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LossRange {
    pub low: f64,
    pub high: f64,
}

impl SubsampledGaussian {
    /// A pair with a noise multiplier in [`NOISE_MULTIPLIERS`](misdeal_core::NOISE_MULTIPLIERS).
    ///
    /// The sampling probability must be from 1e-12 to 1.
    ///
    /// # Errors
    /// An argument is out of range.
    pub fn new(noise_multiplier: f64, sampling_probability: f64) -> Result<Self> {
        check_noise_multiplier(noise_multiplier)?;
        if !(1e-12..=1.0).contains(&sampling_probability) {
            let hint = "it is the batch size divided by the number of records";
            let allowed = "a number from 1e-12 to 1";
            return Err(Error::bad_value("sampling_probability", sampling_probability, allowed, hint));
        }
        Ok(SubsampledGaussian { noise: noise_multiplier, probability: sampling_probability })
    }

    /// The privacy loss ln dP/dQ at the output `y`.
    pub fn loss(&self, y: f64) -> f64 {
        let q = self.probability;
        let x = (y - 0.5) / (self.noise * self.noise);
        if x > 30.0 {
            x + log(q) + log1p((1.0 - q) / q * exp(-x))
        } else if q > 0.5 && x < -1.0 {
            log((1.0 - q) + q * exp(x))
        } else {
            log1p(q * expm1(x))
        }
    }

    /// The x at which the loss is `loss`; minus infinity if no output has such a small loss.
    ///
    /// This x is the loss of the same output if the record is always sampled.
    pub(super) fn loss_if_sampled(&self, loss: f64) -> f64 {
        let q = self.probability;
        if loss > 30.0 {
            loss - log(q) + log1p(-(1.0 - q) * exp(-loss))
        } else {
            let odds = expm1(loss) / q;
            if odds <= -1.0 { f64::NEG_INFINITY } else { log1p(odds) }
        }
    }

    /// The output at which the loss is `loss`; minus infinity if no output has such a small loss.
    fn output(&self, loss: f64) -> f64 {
        0.5 + self.noise * self.noise * self.loss_if_sampled(loss)
    }

    /// The Gaussian pair of one step in which the record is always sampled.
    pub(super) fn if_sampled(&self) -> Gaussian {
        Gaussian::fixed_order(self.noise, 1)
    }

    /// The sampling probability.
    pub(super) fn probability(&self) -> f64 {
        self.probability
    }

    /// The range of losses that contains all but at most `tail` of P (above) and of Q (below).
    pub(super) fn loss_range(&self, tail: f64) -> LossRange {
        LossRange { low: self.loss(self.noise * normal::lower_quantile(tail)), high: self.high_loss(tail) }
    }

    /// A loss that is exceeded with probability at most `tail` under P.
    pub(super) fn high_loss(&self, tail: f64) -> f64 {
        let quantile = |p: f64| -normal::lower_quantile(p.min(0.5));
        let (s, q) = (self.noise, self.probability);
        self.loss((1.0 + s * quantile(tail / (2.0 * q))).max(s * quantile(0.5 * tail)))
    }

    /// Loss laws for an upper and a lower bound, on a grid of about `points` points.
    ///
    /// The grid leaves out about `tail` of each law.
    pub(crate) fn discretised(&self, points: f64, tail: f64) -> [LossGrid; 2] {
        let range = self.loss_range(tail);
        let step = (range.high - range.low) / points;
        [self.cells(step, range).pessimistic(), self.gathered_cells(step, range).optimistic()]
    }

    /// The cells of width `step` from `-below * step` on, which is about the smallest loss, leaving out about `tail`.
    pub(crate) fn cells_from(&self, step: f64, below: i64, tail: f64) -> Cells {
        self.cells(step, LossRange { low: -(below as f64) * step, high: self.high_loss(tail) })
    }

    /// The cells of width `step` over `range`, for an upper bound.
    ///
    /// The grid begins at the smallest loss of that range. If the sampling probability is small, nearly all mass lies
    /// there. A grid that meets this point spreads the mass least.
    pub(super) fn cells(&self, step: f64, range: LossRange) -> Cells {
        let LossRange { low, high } = range;
        let ends = self.outputs(low, step, high);
        let below = self.masses(f64::NEG_INFINITY, ends[0]);
        let cells = ends.windows(2).map(|y| self.mass_and_share(y[0], y[0], y[1], step));
        Cells::from_shares(step, low, 0, cells, below, self.above(&ends))
    }

    /// The cells of width `step` over `range`, for a lower bound.
    ///
    /// All losses within one step of the smallest are gathered in one point that keeps their masses under P and Q. The
    /// grid passes through that point.
    pub(super) fn gathered_cells(&self, step: f64, range: LossRange) -> Cells {
        let LossRange { low, high } = range;
        let gathered_below = self.output(low + step);
        let (s, q) = (self.noise, self.probability);
        let without = normal::cdf(gathered_below / s);
        let with = normal::cdf((gathered_below - 1.0) / s);
        let gathered = (1.0 - q) * without + q * with;
        let origin = log1p(q * (with - without) / without);
        let ends = self.outputs(origin, step, high);
        let cells = ends.windows(2).map(|y| {
            if y[1] <= gathered_below {
                return (0.0, 0.0);
            }
            self.mass_and_share(y[0], y[0].max(gathered_below), y[1], step)
        });
        // The gathered mass lies at the upper end of a separate cell.
        let cells = [(gathered, gathered)].into_iter().chain(cells);
        Cells::from_shares(step, origin, -1, cells, Masses::default(), self.above(&ends))
    }

    /// The outputs with losses `origin`, `origin + step`, ... up to beyond `high`.
    fn outputs(&self, origin: f64, step: f64, high: f64) -> Vec<f64> {
        let cells = ceil((high - origin) / step).max(1.0) as u64;
        (0..=cells).map(|i| self.output(origin + i as f64 * step)).collect()
    }

    fn above(&self, ends: &[f64]) -> Masses {
        self.masses(ends[ends.len() - 1], f64::INFINITY)
    }

    /// P(low < y < high), and the share of it at the upper end of the cell that begins at the output `from`.
    ///
    /// The share is the integral of `(1 - e^(L(from) - L(y))) / (1 - e^-step)` under P. The integrand is
    /// `q phi(y - 1) (1 - e^(-(y - from)/s^2))`. In narrow cells it is integrated by Gauss-Legendre quadrature.
    fn mass_and_share(&self, from: f64, low: f64, high: f64, step: f64) -> (f64, f64) {
        let (s, q) = (self.noise, self.probability);
        let fall = -expm1(-step);
        let width = high - low;
        // With N points the relative error is below c (width (|z| + 2))^(2 N), with width and z in deviations. For
        // three, five and eight points c is 5e-7, 4e-13 and 2e-23. Reason: the 2N-th derivative of the density is a
        // Hermite polynomial times the density.
        let farthest = f64::max(high, 1.0).max(1.0 - low) / s;
        let reach = width / s * (farthest + 2.0);
        if reach.is_nan() || reach > 2.0 {
            let Masses { p, .. } = self.masses(low, high);
            let x = (from - 0.5) / (s * s);
            let rise = between(0.0, (low - 1.0) / s, (high - 1.0) / s) - between(x, low / s, high / s);
            return (p, q * rise / fall);
        }
        let nodes: &[[f64; 2]] = match reach {
            reach if reach < 0.04 => &THREE_NODES,
            reach if reach < 0.5 => &FIVE_NODES,
            _ => &EIGHT_NODES,
        };
        let (mut mass, mut rise) = (0.0, 0.0);
        for &[node, weight] in nodes {
            let y = low + node * width;
            let without = (1.0 - q) * normal::density(y / s);
            let with = q * normal::density((y - 1.0) / s);
            mass += weight * (without + with);
            rise -= weight * with * expm1((from - y) / (s * s));
        }
        (mass * width / s, rise * width / s / fall)
    }

    /// The probabilities of outputs between `low` and `high` under P and Q.
    fn masses(&self, low: f64, high: f64) -> Masses {
        let (s, q) = (self.noise, self.probability);
        let without = between(0.0, low / s, high / s);
        Masses { p: (1.0 - q) * without + q * between(0.0, (low - 1.0) / s, (high - 1.0) / s), q: without }
    }
}

/// `e^log_scale P(low < Z < high)` for a standard normal Z.
///
/// It is computed from the smaller tail. It is zero if the scale is `e^-infinity`.
fn between(log_scale: f64, low: f64, high: f64) -> f64 {
    if log_scale == f64::NEG_INFINITY {
        return 0.0;
    }
    let tail = |z: f64| if z == f64::INFINITY { 0.0 } else { exp(log_scale + normal::log_cdf(-z)) };
    if low > 0.0 {
        tail(low) - tail(high)
    } else if high < 0.0 {
        tail(-high) - tail(-low)
    } else {
        exp(log_scale) - tail(-low) - tail(high)
    }
}

/// Gauss-Legendre nodes and weights on [0, 1].
const THREE_NODES: [[f64; 2]; 3] = [
    [0.1127016653792583115, 0.2777777777777777778],
    [0.5, 0.4444444444444444444],
    [0.8872983346207416885, 0.2777777777777777778],
];
const FIVE_NODES: [[f64; 2]; 5] = [
    [0.0469100770306680036, 0.1184634425280945438],
    [0.2307653449471584545, 0.2393143352496832340],
    [0.5, 0.2844444444444444444],
    [0.7692346550528415455, 0.2393143352496832340],
    [0.9530899229693319964, 0.1184634425280945438],
];
const EIGHT_NODES: [[f64; 2]; 8] = [
    [0.01985507175123188416, 0.05061426814518812958],
    [0.1016667612931866302, 0.1111905172266872353],
    [0.2372337950418355071, 0.1568533229389436437],
    [0.4082826787521750975, 0.1813418916891809915],
    [0.5917173212478249025, 0.1813418916891809915],
    [0.7627662049581644929, 0.1568533229389436437],
    [0.8983332387068133698, 0.1111905172266872353],
    [0.9801449282487681158, 0.05061426814518812958],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Masses of far cells from mpmath at 40 digits: noise, probability, lower end, width, mass, and its part at the
    /// upper end times 1 - e^-1. Earlier code used five nodes at any distance and lost 2e-9 of the mass at 10
    /// deviations.
    #[test]
    fn masses_of_far_cells_are_exact() {
        for (noise, q, low, width, mass, rise) in [
            (1.0, 0.5, 5.0, 0.2499, 1.0594251925769999e-5, 1.0119377986783877e-6),
            (1.0, 0.5, 7.0, 0.2499, 3.9115056704076664e-10, 3.4340854685488288e-11),
            (1.0, 0.5, 10.0, 0.2499, 5.0815364109333137e-20, 3.8689576248283197e-21),
            (1.0, 0.5, 10.0, 0.0199, 9.3648464145886517e-21, 8.9802918803381154e-23),
            (1.0, 0.01, 9.0, 1.2, 6.3325108701311259e-18, 6.7407919146162342e-19),
            (0.5, 0.5, -3.0, 0.06, 5.3237289027211792e-10, 6.4721743427916056e-17),
            (100.0, 0.25, 800.0, 20.0, 5.1244707645778841e-16, 1.008328492821117e-19),
        ] {
            let pair = SubsampledGaussian::new(noise, q).unwrap();
            let (found, share) = pair.mass_and_share(low, low, low + width, 1.0);
            let found_rise = share * -expm1(-1.0);
            assert!((found / mass - 1.0).abs() < 1e-13, "{noise} {low} {width}: {found} {mass}");
            // The error is relative to the mass, of which the rise may be a small part.
            let error = 1e-13 * mass + 2e-12 * rise;
            assert!((found_rise - rise).abs() < error, "{noise} {low} {width}: {found_rise} {rise}");
        }
    }
}
