//! Reads delta and epsilon from a composed law.
//!
//! With S = P(sum >= k h) and D = delta(k h), both divided by `e^(log_scale - tilt k h)`, one step down the grid is
//!
//! ```text
//! D <- e^(-tilt h) (e^-h D + (1 - e^-h) S),   S <- mass + e^(-tilt h) S
//! ```
//!
//! All terms are positive. Between two grid points delta is linear in e^epsilon. So nothing cancels.

use super::{Composition, Side};
use libm::{exp, expm1, log, log1p, pow};

/// The state of the walk down the grid: the sums over everything at or above point `index`.
struct Above {
    index: i64,
    mass: f64,
    delta: f64,
}

/// The factors of one step down the grid: `e^-h`, `1 - e^-h` and `e^(-tilt h)`.
struct StepDown {
    shrink: f64,
    fall: f64,
    untilt: f64,
}

impl Above {
    /// The distance below this point at which the scaled delta has grown to `wanted`.
    ///
    /// It assumes that no mass lies in between. It is infinite if delta never grows so much.
    fn down_to(&self, wanted: f64) -> f64 {
        if wanted <= self.delta {
            return 0.0;
        }
        let down_by = -log1p(-(wanted - self.delta) / (self.mass - self.delta));
        if down_by.is_nan() { f64::INFINITY } else { down_by }
    }
}

impl Composition {
    /// The delta at `epsilon`; never too small for [`Side::Upper`], never too large for [`Side::Lower`].
    pub fn delta(&self, epsilon: f64) -> f64 {
        if self.hides(epsilon) {
            return 1.0;
        }
        let (mut above, step) = (self.top(), self.step_down());
        while self.loss(above.index - 1) >= epsilon {
            above = self.down(&above, &step);
        }
        let down_by = (self.loss(above.index) - epsilon).max(0.0);
        let scaled = exp(-down_by) * above.delta - expm1(-down_by) * above.mass;
        let scaled = if epsilon > self.loss(above.index) { 0.0 } else { scaled };
        let finite = (scaled - self.excess() * exp(self.tilt * down_by)).max(0.0);
        (finite * exp(self.log_scale_at(above.index)) + self.infinity_mass).clamp(0.0, 1.0)
    }

    /// The smallest epsilon >= 0 with `delta(epsilon) <= delta`; infinite if none is known.
    ///
    /// It is never too small for [`Side::Upper`] and never too large for [`Side::Lower`].
    pub fn epsilon(&self, delta: f64) -> f64 {
        let wanted = delta - self.infinity_mass;
        if wanted <= 0.0 {
            return if self.side == Side::Upper { f64::INFINITY } else { 0.0 };
        }
        let log_wanted = log(wanted);
        // The excess grows downwards, so within a cell its value at the cell's lower end is used.
        let excess = self.excess() * exp(self.tilt * self.step);
        let wanted_at = |index: i64| exp(log_wanted - self.log_scale_at(index)) + excess;
        let (mut above, step) = (self.top(), self.step_down());
        if wanted_at(above.index) < 0.0 {
            return f64::INFINITY;
        }
        while above.index > self.first && self.loss(above.index) > 0.0 {
            let wanted_here = wanted_at(above.index);
            let at_lower_end = step.shrink * above.delta + step.fall * above.mass;
            if at_lower_end > wanted_here {
                return (self.loss(above.index) - above.down_to(wanted_here)).max(0.0);
            }
            above = self.down(&above, &step);
        }
        // Delta is small enough at the lowest known point.
        match self.side {
            Side::Upper if !self.complete_below => self.loss(self.first).max(0.0),
            // All mass is at or above the first point. Below it delta tends to the total mass.
            _ if self.tilt == 0.0 && self.loss(self.first) > 0.0 => {
                (self.loss(above.index) - above.down_to(wanted_at(above.index))).max(0.0)
            }
            _ => 0.0,
        }
    }

    /// The share of `delta`, reached at `epsilon`, that may come from round-off and stray mass.
    pub fn blur(&self, epsilon: f64, delta: f64) -> f64 {
        if epsilon.is_finite() {
            self.excess().abs() * exp(self.log_scale - self.tilt * epsilon) / delta
        } else {
            f64::INFINITY
        }
    }

    /// Whether mass below the window could count at `epsilon`.
    fn hides(&self, epsilon: f64) -> bool {
        self.side == Side::Upper && !self.complete_below && epsilon < self.loss(self.first)
    }

    /// The largest error of the scaled delta: an excess for the lower side, a deficit (negative) for the upper side.
    ///
    /// It consists of stray mass times the maximum over x of e^(-tilt x) (1 - e^-x), and of round-off.
    fn excess(&self) -> f64 {
        match self.side {
            Side::Upper => -self.round_off,
            Side::Lower => {
                let most = pow(self.tilt / (1.0 + self.tilt), self.tilt) / (1.0 + self.tilt);
                self.stray_mass * most + self.round_off
            }
        }
    }

    fn loss(&self, index: i64) -> f64 {
        self.origin + index as f64 * self.step
    }

    fn log_scale_at(&self, index: i64) -> f64 {
        self.log_scale - self.tilt * self.loss(index)
    }

    fn top(&self) -> Above {
        let last = self.tilted.len() - 1;
        Above { index: self.first + last as i64, mass: self.tilted[last], delta: 0.0 }
    }

    fn step_down(&self) -> StepDown {
        StepDown { shrink: exp(-self.step), fall: -expm1(-self.step), untilt: exp(-self.tilt * self.step) }
    }

    fn down(&self, above: &Above, step: &StepDown) -> Above {
        let index = above.index - 1;
        let here = usize::try_from(index - self.first).map_or(0.0, |i| self.tilted[i]);
        Above {
            index,
            mass: here + step.untilt * above.mass,
            delta: step.untilt * (step.shrink * above.delta + step.fall * above.mass),
        }
    }
}
