//! The levels at which an epoch's divergence is computed, and its loss law.

use super::home::{Block, Fineness};
use crate::gaussian::Gaussian;
use crate::pld::Divergence;
use libm::{exp, log};

/// Bounds on the divergence in one order of the two worlds, at most the fixed order's.
pub(super) struct Curve<'a> {
    pub block: Block<'a>,
    /// Divergences below this do not matter.
    pub least: f64,
    pub fineness: &'a Fineness,
}

/// The share of the area under the divergence that connecting the dots may add in one gap.
const ADDED: f64 = 3e-4;
/// The largest fall of the logarithm of the divergence between two levels.
const FALL: f64 = 0.6;
/// The most rounds of refinement.
const ROUNDS: usize = 4;

impl Curve<'_> {
    /// The level from which on the fixed order's divergence does not matter.
    pub fn top(&self) -> f64 {
        self.fixed_order().epsilon_upper_bound(self.least)
    }

    pub fn fixed_order(&self) -> Gaussian {
        Gaussian::fixed_order(self.block.noise, 1)
    }

    /// The divergence at e^level, never too small.
    pub fn at(&self, level: f64, guess: f64) -> f64 {
        let known = self.fixed_order().delta(level) * (1.0 + 1e-9);
        self.block.divergence(level, guess.min(known), self.least, self.fineness).min(known)
    }

    /// The divergences at points of a grid from level 0 on.
    pub fn dots(&self, step: f64) -> Vec<Divergence> {
        let at = |index: i64, guess: f64| {
            let level = index as f64 * step;
            Divergence { index, level, value: self.at(level, guess) }
        };
        let top = self.top();
        let mut dots = vec![at(0, 1.0)];
        for gap in 1..=self.fineness.gaps {
            let level = top * (gap as f64 / self.fineness.gaps as f64).powi(2);
            let index = (level / step).ceil() as i64;
            let last = dots[dots.len() - 1];
            if index > last.index {
                dots.push(at(index, last.value));
            }
            if dots[dots.len() - 1].value <= 0.3 * self.least {
                break;
            }
        }
        for _ in 0..ROUNDS {
            let slope =
                |gap: &[Divergence]| (gap[1].value - gap[0].value) / (exp(gap[1].level) - exp(gap[0].level));
            let area: f64 = dots.windows(2).map(|gap| gap[0].value * (gap[1].level - gap[0].level)).sum();
            let slopes: Vec<f64> = dots.windows(2).map(slope).collect();
            let mut finer = vec![dots[0]];
            for (i, gap) in dots.windows(2).enumerate() {
                let (before, after) = (slopes[i.saturating_sub(1)], slopes[(i + 1).min(slopes.len() - 1)]);
                let width = gap[1].level - gap[0].level;
                let bend = (after - before).abs() * exp(gap[0].level) * width * width / 16.0;
                let falls = gap[0].value > 300.0 * self.least && log(gap[0].value / gap[1].value) > FALL;
                if gap[1].index > gap[0].index + 1 && (falls || bend > ADDED * area) {
                    finer.push(at(i64::midpoint(gap[0].index, gap[1].index), gap[0].value));
                }
                finer.push(gap[1]);
            }
            if finer.len() == dots.len() {
                break;
            }
            dots = finer;
        }
        dots
    }
}
