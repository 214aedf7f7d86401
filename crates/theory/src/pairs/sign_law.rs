//! The probability that the rounded sum is positive, given the target's term.

use super::cells::{CellMass, Spread};
use super::sum_law::{SumLaw, TermLaw};
use super::window::Window;

/// The cyclic grid of terms and sums. The value `k step` has index `k` modulo `points`.
#[derive(Debug, Clone, Copy)]
pub struct Grid {
    /// The spacing of values.
    pub step: f64,
    /// The number of points.
    pub points: usize,
    /// The window that contains the sum, and the tilt of its law.
    pub window: Window,
}

/// A term's law on the grid.
#[derive(Debug, Clone)]
pub struct GridTerm {
    /// The masses. If the window has a tilt, they are tilted by e^(-tilt value) and divided by their moment.
    pub law: TermLaw,
    /// The logarithm of the moment that divided the masses; zero without a tilt.
    pub log_moment: f64,
    /// The mass of values at or above the clip.
    pub clipped: f64,
}

/// The probability P(x + S > 0) and its complement, for a target's term x and the others' rounded sum S.
///
/// Both are summed from the small side.
#[derive(Debug, Clone)]
pub struct SignLaw {
    step: f64,
    /// The tables start this many steps below zero.
    offset: usize,
    positive: Vec<f64>,
    negative: Vec<f64>,
}

/// Expectations over the random rounding of one value x to the grid.
#[derive(Debug, Clone, Copy, Default)]
pub struct Signed {
    /// P(x + S > 0).
    pub positive: f64,
    /// P(x + S <= 0).
    pub negative: f64,
    /// E[x; x + S > 0].
    pub positive_value: f64,
    /// E[-x; x + S <= 0].
    pub negative_value: f64,
}

impl Grid {
    /// The cells' law of the term times `scale`, rounded to the grid at random without bias.
    pub fn term(&self, spreads: &[Spread], masses: &[CellMass], scale: f64) -> GridTerm {
        let mut law = TermLaw { calm: vec![0.0; self.points], rest: vec![0.0; self.points] };
        let mut clipped = 0.0;
        let points = self.points as i64;
        for (spread, mass) in spreads.iter().zip(masses) {
            for (value, share) in [(spread.low, 1.0 - spread.high_share), (spread.high, spread.high_share)] {
                let (value, mass) = (value * scale, mass.base * share);
                if value >= self.window.clip {
                    clipped += mass;
                    continue;
                }
                let (below, shares) = rounding(value / self.step);
                for (k, share) in [(below as i64, shares[0]), (below as i64 + 1, shares[1])] {
                    let split = k > 0 && self.window.tilt.is_none();
                    let side = if split { &mut law.rest } else { &mut law.calm };
                    side[k.rem_euclid(points) as usize] += mass * share;
                }
            }
        }
        let mut log_moment = 0.0;
        if let Some(tilt) = self.window.tilt {
            let first_negative = self.points - (self.window.floor() / self.step).ceil() as usize - 1;
            for (index, mass) in law.calm.iter_mut().enumerate().filter(|(_, mass)| **mass > 0.0) {
                let steps =
                    if index < first_negative { index as f64 } else { index as f64 - self.points as f64 };
                *mass *= (-tilt * steps * self.step).exp();
            }
            let moment: f64 = law.calm.iter().sum();
            for mass in &mut law.calm {
                *mass /= moment;
            }
            log_moment = moment.ln();
        }
        GridTerm { law, log_moment, clipped }
    }

    /// The sign law of a sum whose law is tilted to the left.
    ///
    /// `log_moment` is the logarithm of its moment. P(S <= -x) is summed from the bottom up for every x, with errors
    /// relative to the moment.
    pub fn tilted_signs(&self, sum: &SumLaw, tilt: f64, log_moment: f64, floor: f64) -> SignLaw {
        let offset = (floor / self.step).ceil() as usize + 1;
        let reach = (self.window.below / self.step).ceil() as usize + 1;
        let mut negative = vec![0.0; offset + reach + 1];
        let mut below = 0.0;
        for (index, slot) in negative.iter_mut().enumerate().rev() {
            let steps = offset as i64 - index as i64;
            let mass = sum.all[steps.rem_euclid(self.points as i64) as usize];
            below += mass * (log_moment + tilt * steps as f64 * self.step).exp();
            *slot = f64::clamp(below, 0.0, 1.0);
        }
        let positive = negative.iter().map(|mass| 1.0 - mass).collect();
        SignLaw { step: self.step, offset, positive, negative }
    }

    /// The sign law of a sum without tilt.
    ///
    /// `decided` is the probability that one of its terms was clipped. No term of the target is below `-floor`.
    pub fn signs(&self, sum: &SumLaw, decided: f64, floor: f64) -> SignLaw {
        let offset = (floor / self.step).ceil() as usize + 1;
        let reach = (self.window.below / self.step).ceil() as usize + 1;
        let top = self.points - reach;
        let mut positive = vec![0.0; offset + reach + 1];
        let mut negative = positive.clone();
        // For terms at most zero, S must be at least 1 - k steps, so the sum runs from the top down.
        let mut above: f64 = decided + sum.rest[offset + 1..top].iter().rev().sum::<f64>();
        for k in 0..=offset {
            positive[k] = above.clamp(0.0, 1.0);
            negative[k] = 1.0 - positive[k];
            above += sum.rest[offset - k];
        }
        // For terms above zero, S must be at most -k steps for a negative result, so the sum runs from the bottom up.
        let mut below = 0.0;
        for k in (1..=reach).rev() {
            below += sum.all[self.points - k];
            negative[offset + k] = f64::clamp(below, 0.0, 1.0);
            positive[offset + k] = 1.0 - negative[offset + k];
        }
        SignLaw { step: self.step, offset, positive, negative }
    }
}

/// The whole number below `x`, and the shares of it and the next one that give mean `x`.
///
/// No share is a rounded difference from one, so values far below one step keep their mean.
fn rounding(x: f64) -> (f64, [f64; 2]) {
    let below = x.floor();
    (below, [below + 1.0 - x, x - below])
}

impl SignLaw {
    /// The expectations for one value of the target's term.
    pub fn at(&self, value: f64) -> Signed {
        let (below, shares) = rounding(value / self.step);
        let index = below + self.offset as f64;
        if index + 1.0 >= self.positive.len() as f64 {
            return Signed { positive: 1.0, negative: 0.0, positive_value: value, negative_value: 0.0 };
        }
        let index = index as usize;
        let mix = |table: &[f64]| shares[0] * table[index] + shares[1] * table[index + 1];
        let mix_value = |table: &[f64]| {
            self.step * (shares[0] * below * table[index] + shares[1] * (below + 1.0) * table[index + 1])
        };
        Signed {
            positive: mix(&self.positive),
            negative: mix(&self.negative),
            positive_value: mix_value(&self.positive),
            negative_value: -mix_value(&self.negative),
        }
    }
}
