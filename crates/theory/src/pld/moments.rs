//! The logarithmic moment generating function of a grid law, and windows from Chernoff bounds.

use super::LossGrid;
use libm::{exp, log};

/// ln E e^(t L) of the finite part, and its derivative, which is the mean of the tilted law.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub log_value: f64,
    pub mean: f64,
}

/// With a larger tilt, a law lies on its last few points and does not change any more.
const STEEPEST_TILT_PER_STEP: f64 = 8.0;
/// Within a block, powers stay below e^(2 * 8 * 32), which is finite.
const BLOCK: usize = 32;

impl LossGrid {
    /// The moment at `tilt`, from running powers in blocks, accurate to about 1e-13.
    pub(super) fn moment(&self, tilt: f64) -> Moment {
        let ratio = exp(tilt * self.step);
        let (mut shift, mut sum, mut weighted) = (f64::NEG_INFINITY, 0.0, 0.0);
        for (b, block) in self.masses.chunks(BLOCK).enumerate() {
            let (mut power, mut block_sum, mut block_weighted) = (1.0, 0.0, 0.0);
            for (i, mass) in block.iter().enumerate() {
                let term = mass * power;
                block_sum += term;
                block_weighted += term * i as f64;
                power *= ratio;
            }
            if block_sum > 0.0 {
                let start = b * BLOCK;
                let exponent = tilt * self.loss(start);
                let block_weighted = block_weighted + start as f64 * block_sum;
                if exponent > shift {
                    let rescale = exp(shift - exponent);
                    (sum, weighted) = (sum * rescale + block_sum, weighted * rescale + block_weighted);
                    shift = exponent;
                } else {
                    let rescale = exp(exponent - shift);
                    (sum, weighted) = (sum + block_sum * rescale, weighted + block_weighted * rescale);
                }
            }
        }
        let mean = self.origin + (self.first as f64 + weighted / sum) * self.step;
        Moment { log_value: shift + log(sum), mean }
    }

    /// The tilt t >= 0 at which the Chernoff bound of `times` steps equals `log_probability`.
    ///
    /// The tilted sum then has its mean near the loss that is exceeded with about that probability.
    pub(super) fn tilt_for_probability(&self, times: f64, log_probability: f64) -> f64 {
        self.solve_tilt(|t, m| times * (m.log_value - t * m.mean) > log_probability)
    }

    /// The tilt t >= 0 at which the mean of `times` steps is `loss`.
    pub(super) fn tilt_for_mean(&self, times: f64, loss: f64) -> f64 {
        self.solve_tilt(|_, m| times * m.mean < loss)
    }

    /// The end of the tilted sum's support, above for `direction = 1` and below for `direction = -1`.
    ///
    /// By Chernoff's bound, at most `e^log_probability` lies beyond it.
    pub(super) fn end_of_support(&self, times: f64, tilt: f64, direction: f64, log_probability: f64) -> f64 {
        let base = self.moment(tilt).log_value;
        let bound = |t: f64, m: Moment| {
            // Chernoff's bound: P(tilted sum beyond x) <= exp(times (K(tilt + d t) - K(tilt)) - d t x)
            direction * (times * (m.log_value - base) - log_probability) / t
        };
        let extreme = times * if direction > 0.0 { self.loss(self.masses.len() - 1) } else { self.loss(0) };
        let exponent = |t: f64, m: Moment| times * (m.log_value - base - direction * t * m.mean);
        let (mut low, mut high) =
            self.bracket_tilt(|t| exponent(t, self.moment(tilt + direction * t)) > log_probability);
        let mut best = f64::INFINITY;
        for _ in 0..8 {
            let middle = (low * high).sqrt();
            let m = self.moment(tilt + direction * middle);
            best = best.min(direction * bound(middle, m));
            if exponent(middle, m) > log_probability {
                low = middle;
            } else {
                high = middle;
            }
        }
        direction * best.min(direction * extreme)
    }

    fn solve_tilt(&self, too_small: impl Fn(f64, Moment) -> bool) -> f64 {
        let (mut low, mut high) = self.bracket_tilt(|t| too_small(t, self.moment(t)));
        for _ in 0..8 {
            let middle = (low * high).sqrt();
            if too_small(middle, self.moment(middle)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Two tilts that differ by a factor of four, between which `too_small` becomes false, within the useful range.
    fn bracket_tilt(&self, too_small: impl Fn(f64) -> bool) -> (f64, f64) {
        let steepest = STEEPEST_TILT_PER_STEP / self.step;
        let mut high = 1.0_f64.min(steepest);
        if too_small(high) {
            while high < steepest && too_small(high) {
                high = (4.0 * high).min(steepest);
            }
            return (0.25 * high, high);
        }
        while high > 1e-9 && !too_small(0.25 * high) {
            high *= 0.25;
        }
        (0.25 * high, high)
    }
}
