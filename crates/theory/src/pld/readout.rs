//! Reading delta and epsilon off a composed law.
//!
//! With S = P(sum >= k h) and D = delta(k h), both over `e^(log_scale - tilt k h)`, one step down the grid is
//!
//! ```text
//! D <- e^(-tilt h) (e^-h D + (1 - e^-h) S),   S <- mass + e^(-tilt h) S
//! ```
//!
//! with positive terms only, and between two grid points delta is linear in e^epsilon: nothing cancels.

use super::{Composition, Side};
use libm::{exp, expm1, log, log1p, pow};

/// The state of the walk down the grid: everything at or above point `index`.
struct Above {
    index: i64,
    mass: f64,
    delta: f64,
}

impl Composition {
    /// Delta at `epsilon`; never too small for [`Side::Upper`], never too large for [`Side::Lower`].
    pub fn delta(&self, epsilon: f64) -> f64 {
        if self.hides(epsilon) {
            return 1.0;
        }
        let mut above = self.top();
        while ((above.index - 1) as f64) * self.step >= epsilon {
            above = self.down(&above);
        }
        let down_by = (above.index as f64 * self.step - epsilon).max(0.0);
        let scaled = exp(-down_by) * above.delta - expm1(-down_by) * above.mass;
        let scaled = if epsilon > above.index as f64 * self.step { 0.0 } else { scaled };
        let stray = self.stray_effect() * exp(self.tilt * down_by);
        let finite = (scaled - stray).max(0.0) * exp(self.log_scale_at(above.index));
        (finite + self.infinity_mass).clamp(0.0, 1.0)
    }

    /// The smallest epsilon >= 0 with `delta(epsilon) <= delta`; infinite if there is none. Never too small for
    /// [`Side::Upper`], never too large for [`Side::Lower`].
    pub fn epsilon(&self, delta: f64) -> f64 {
        let wanted = delta - self.infinity_mass;
        if wanted <= 0.0 {
            return if self.side == Side::Upper { f64::INFINITY } else { 0.0 };
        }
        let log_wanted = log(wanted);
        // The stray mass's effect grows downwards: within a cell, take it at the cell's lower end.
        let stray = self.stray_effect() * exp(self.tilt * self.step);
        let mut above = self.top();
        while above.index > self.first.max(0) {
            let wanted_here = exp(log_wanted - self.log_scale_at(above.index)) + stray;
            let at_lower_end = exp(-self.step) * above.delta - expm1(-self.step) * above.mass;
            if at_lower_end > wanted_here {
                let down_by = -log1p(-(wanted_here - above.delta).max(0.0) / (above.mass - above.delta));
                return (above.index as f64 * self.step - down_by).max(0.0);
            }
            above = self.down(&above);
        }
        // Delta is small enough at the lowest point that is known.
        match self.side {
            Side::Upper if !self.complete_below => (self.first as f64 * self.step).max(0.0),
            _ if self.first <= 0 => 0.0,
            // All mass is at or above the first point, and below it delta tends to the total.
            _ => {
                let wanted_here = exp(log_wanted - self.log_scale_at(above.index)) + stray;
                let down_by = -log1p(-(wanted_here - above.delta).max(0.0) / (above.mass - above.delta));
                let down_by = if down_by.is_nan() || self.tilt > 0.0 { f64::INFINITY } else { down_by };
                (above.index as f64 * self.step - down_by).max(0.0)
            }
        }
    }

    /// Whether mass that the window does not show could count at `epsilon`.
    fn hides(&self, epsilon: f64) -> bool {
        self.side == Side::Upper && !self.complete_below && epsilon < self.first as f64 * self.step
    }

    /// The most that stray mass can add to the scaled delta: its mass times max over x of e^(-tilt x) (1 - e^-x).
    fn stray_effect(&self) -> f64 {
        match self.side {
            Side::Upper => 0.0,
            Side::Lower => {
                self.stray_mass * pow(self.tilt / (1.0 + self.tilt), self.tilt) / (1.0 + self.tilt)
            }
        }
    }

    fn log_scale_at(&self, index: i64) -> f64 {
        self.log_scale - self.tilt * index as f64 * self.step
    }

    fn top(&self) -> Above {
        let last = self.tilted.len() - 1;
        Above { index: self.first + last as i64, mass: self.tilted[last], delta: 0.0 }
    }

    fn down(&self, above: &Above) -> Above {
        let (shrink, untilt) = (exp(-self.step), exp(-self.tilt * self.step));
        let index = above.index - 1;
        let here = usize::try_from(index - self.first).map_or(0.0, |i| self.tilted[i]);
        Above {
            index,
            mass: here + untilt * above.mass,
            delta: untilt * (shrink * above.delta - expm1(-self.step) * above.mass),
        }
    }
}
