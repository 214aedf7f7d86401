//! The trade-off curve of a grid law: both errors of the best tests between P and Q.

use super::compose::UNIT_ROUND_OFF;
use super::transform::RunningSum;
use super::{LossGrid, Side};
use libm::exp;

impl LossGrid {
    /// The corners of the trade-off curve, (`false_positive_rate` under Q, `false_negative_rate` under P).
    ///
    /// They run from the test that never rejects Q to the one that always does. Between corners the curve is linear.
    ///
    /// The curve is never above the pair's for [`Side::Upper`], and never below it for [`Side::Lower`].
    pub fn trade_off_curve(&self) -> Vec<[f64; 2]> {
        // The margin covers the rounding of e^-loss and of both sums, whose terms are positive. It goes to the side of
        // this law.
        let largest_loss = f64::max(self.loss(0).abs(), self.loss(self.masses.len() - 1).abs());
        let relative = UNIT_ROUND_OFF * (16.0 + 2.0 * largest_loss);
        let (more, less) = match self.side {
            Side::Upper => (1.0 + relative, 1.0 - relative),
            Side::Lower => (1.0 - relative, 1.0 + relative),
        };
        let last_bits = (1.0 - more).signum() * 4.0 * UNIT_ROUND_OFF;
        let corner = |false_positives: f64, detected: f64| {
            [(false_positives * less).min(1.0), (1.0 - detected * more + last_bits).clamp(0.0, 1.0)]
        };
        let (mut false_positives, mut detected) = (RunningSum::default(), RunningSum::default());
        let mut curve = Vec::with_capacity(self.masses.iter().filter(|mass| **mass > 0.0).count() + 2);
        curve.push(corner(0.0, detected.add(self.infinity_mass)));
        for (i, &mass) in self.masses.iter().enumerate().rev() {
            if mass > 0.0 {
                curve.push(corner(false_positives.add(mass * exp(-self.loss(i))), detected.add(mass)));
            }
        }
        // Masses at -infinity are detected last. They cost all remaining false positives.
        if self.side == Side::Lower || curve[curve.len() - 1][0] < 1.0 {
            curve.push([1.0, 0.0]);
        }
        curve
    }
}

#[cfg(test)]
mod tests {
    use crate::pld::{Aim, Cells};
    use crate::trade_off::Curve;
    use misdeal_core::normal;

    #[test]
    fn brackets_the_gaussian_curve_after_four_steps() {
        let (step, first) = (0.02, -450);
        let survival = |mean: f64| -> Vec<f64> {
            (0..900).map(|i| normal::cdf(mean - f64::from(first + i) * step)).collect()
        };
        let cells = Cells::from_survival(step, i64::from(first), &survival(0.5), &survival(-0.5));
        let [lower, upper] = [cells.optimistic(), cells.pessimistic()]
            .map(|law| Curve::Corners(law.compose(4, Aim::Whole).untilted().trade_off_curve()));
        for i in 1..50 {
            let rate = f64::from(i) * 0.02;
            let exact = normal::cdf(normal::quantile(1.0 - rate) - 2.0);
            let (least, most) = (upper.false_negative_rate(rate), lower.false_negative_rate(rate));
            assert!(least <= exact && exact <= most && most - least < 1e-3, "{rate}: {least} {exact} {most}");
        }
    }
}
