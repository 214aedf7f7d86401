//! Sums over the target's cell and group: from sign probabilities to the bounds at one level.

use super::cells::{CellMass, Spread};
use super::level::LevelPoint;
use super::sign_law::{SignLaw, Signed};

/// The relative error allowed for the sums over cells. Their terms are accurate to about 1e-14.
const ARITHMETIC: f64 = 1e-11;

/// Bounds on the error of P(x + S > 0) for a target's term x.
pub struct Doubt {
    /// The bound for x at most zero.
    pub below_zero: f64,
    /// The bound for x above zero.
    pub above_zero: f64,
    /// The bound for x beyond the window. There the probability is taken as one and not summed.
    pub decisive: f64,
    /// The x at which the window ends.
    pub window: f64,
    /// If a tilt was undone, the error for x below zero grows by e^(tilt |x|).
    pub tilt: f64,
}

impl Doubt {
    /// A bound on the error for any term between `low` and `high`.
    fn over(&self, low: f64, high: f64) -> f64 {
        if low >= self.window {
            return self.decisive;
        }
        let below = if low < 0.0 { self.below_zero * (-self.tilt * low).exp() } else { 0.0 };
        let above = if high > 0.0 { self.above_zero } else { 0.0 };
        below + above
    }
}

/// What the target contributes in one group of batches.
pub struct Part {
    /// The probability of a positive sum given the target's term.
    pub signs: SignLaw,
    /// The error of `signs`.
    pub doubt: Doubt,
    /// The group's weight divided by the largest weight.
    pub scale: f64,
    /// The probability that the target is in this group.
    pub share: f64,
    /// The value of `share` if the group had the largest weight. The grid's values are in this unit.
    pub value_share: f64,
}

/// Expectations over the target's cell and group. Values are in units of the scaled term.
#[derive(Default)]
pub struct Totals {
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
    /// Adds the target's contribution in one group of batches.
    pub fn add(&mut self, spreads: &[Spread], masses: &[CellMass], part: &Part) {
        let Part { signs, doubt, scale, share, value_share } = part;
        for (spread, mass) in spreads.iter().zip(masses) {
            let low = signs.at(spread.low * scale);
            let high = signs.at(spread.high * scale);
            let mix = |part: fn(&Signed) -> f64| part(&low) + spread.high_share * (part(&high) - part(&low));
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

    /// The point at `level`, with every field on its safe side. The unit of the scaled term is e^`log_scale`.
    pub fn finish(&self, level: f64, log_scale: f64, beyond: &CellMass, undecided: &CellMass) -> LevelPoint {
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
            delta_upper_bound: (unit * self.positive_value + beyond.present + value_error + arithmetic)
                .min(1.0),
            reverse_delta_lower_bound: (absent_complement - present_complement / odds).max(0.0),
            reverse_delta_upper_bound: ((unit * self.negative_value + value_error) / odds
                + reverse_arithmetic)
                .min(1.0),
        }
    }
}
