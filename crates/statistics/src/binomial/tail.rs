//! The mass of a Beta law above a point in units of the density there, at a cost that does not grow with the counts.
//!
//! # Why quadrature?
//! Relative to the density, the tail is one smooth integral: 32 Gauss points suffice for any number of trials n.
//! Continued fractions need about sqrt(n) terms.

use super::{Proportion, saddle_point::log1p_minus};
use libm::exp;

/// Where the integrand has fallen to exp(-40), 4e-18 of its start, the integral ends.
const NEGLIGIBLE: f64 = 40.0;

/// A point at which the tail of Beta(k + 1, l + 1) is wanted, with every difference free of cancellation.
pub(super) struct Point {
    /// k, at least 1.
    pub successes: f64,
    /// l, at least 1.
    pub failures: f64,
    /// p.
    pub value: f64,
    /// 1 - p.
    pub complement: f64,
    /// (k + l) p - k: how far p lies beyond the mode.
    pub excess: f64,
}

impl Point {
    /// The point p = odds / (1 + odds).
    pub fn from_odds(successes: f64, failures: f64, odds: f64) -> Self {
        let Proportion { value, complement } = Proportion::from_odds(odds);
        let excess = (odds * failures - successes) / (1.0 + odds);
        Point { successes, failures, value, complement, excess }
    }

    /// J = integral over t from p to 1 of f(t) / f(p), divided by p(1-p), for the density f of the Beta law.
    ///
    /// It is also -1 / (d ln F / d logit p) for F = the mass above p. With t = p + p(1-p) w the integrand is
    /// exp(-[`fall`](Self::fall)(w)), a polynomial in w that decreases (for p beyond the mode) and is log-concave. One
    /// Gauss-Legendre rule of 32 points from 0 to the end of what matters integrates the exponential and the normal
    /// shapes, between which it always lies, to below 1e-16.
    pub fn mass_over_density(&self) -> f64 {
        let half = 0.5 * self.end();
        let mut sum = 0.0;
        for [node, weight] in LEGENDRE_32 {
            let pair = exp(-self.fall(half * (1.0 - node))) + exp(-self.fall(half * (1.0 + node)));
            sum += weight * pair;
        }
        half * sum
    }

    /// -ln(f(t) / f(p)) at t = p + p(1-p) w: convex in w, a sum of positive terms beyond the mode.
    fn fall(&self, w: f64) -> f64 {
        let above = log1p_minus(self.complement * w);
        let below = log1p_minus(-self.value * w);
        self.excess * w - self.successes * above - self.failures * below
    }

    /// d fall / dw.
    fn slope(&self, w: f64) -> f64 {
        let (up, down) = (self.complement * w, self.value * w);
        self.excess
            + self.successes * self.complement * up / (1.0 + up)
            + self.failures * self.value * down / (1.0 - down)
    }

    /// A `w`, at most 1/p, near the one where `fall` is [`NEGLIGIBLE`] and seldom much above it.
    ///
    /// Newton from the root of the quadratic expansion: as `fall` is convex, the steps after the first come from above.
    fn end(&self) -> f64 {
        let last = 1.0 / self.value;
        let curvature =
            self.successes * self.complement * self.complement + self.failures * self.value * self.value;
        let excess = self.excess.max(0.0);
        let root = libm::sqrt(excess * excess + 2.0 * NEGLIGIBLE * curvature);
        let mut w = (2.0 * NEGLIGIBLE / (excess + root)).min(0.9 * last);
        for _ in 0..3 {
            w += (NEGLIGIBLE - self.fall(w)) / self.slope(w);
            if w.is_nan() || w >= last {
                return last;
            }
        }
        w
    }
}

/// The positive nodes and their weights of the 32-point Gauss-Legendre rule on [-1, 1].
pub(crate) const LEGENDRE_32: [[f64; 2]; 16] = [
    [0.048307665687738316235, 0.096540088514727800567],
    [0.14447196158279649349, 0.095638720079274859419],
    [0.23928736225213707454, 0.093844399080804565639],
    [0.33186860228212764978, 0.091173878695763884713],
    [0.42135127613063534536, 0.087652093004403811143],
    [0.50689990893222939002, 0.083311924226946755222],
    [0.58771575724076232904, 0.078193895787070306472],
    [0.66304426693021520098, 0.072345794108848506225],
    [0.73218211874028968039, 0.065822222776361846838],
    [0.79448379596794240696, 0.058684093478535547145],
    [0.84936761373256997013, 0.050998059262376176196],
    [0.89632115576605212397, 0.042835898022226680657],
    [0.93490607593773968917, 0.034273862913021433103],
    [0.96476225558750643077, 0.025392065309262059456],
    [0.9856115115452683354, 0.016274394730905670605],
    [0.99726386184948156354, 0.0070186100094700966004],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// An n-point Gauss rule is exact for polynomials of degree 2n - 1.
    #[test]
    fn the_rule_integrates_polynomials_exactly() {
        for power in (0..64).step_by(2) {
            let sum: f64 = LEGENDRE_32.iter().map(|[x, w]| 2.0 * w * libm::pow(*x, f64::from(power))).sum();
            assert!((sum * f64::from(power + 1) / 2.0 - 1.0).abs() < 1e-14, "{power}");
        }
    }

    /// Beta(2, 2) has f = 6t(1-t) and mass 1 - 3p^2 + 2p^3 above p.
    #[test]
    fn agrees_with_a_closed_form() {
        for odds in [1.0, 1.7, 20.0, 1e6] {
            let point = Point::from_odds(1.0, 1.0, odds);
            let (p, q) = (point.value, point.complement);
            let mass = q * q * (1.0 + 2.0 * p);
            let exact = mass / (6.0 * p * q) / (p * q);
            assert!((point.mass_over_density() / exact - 1.0).abs() < 1e-14, "{odds}");
        }
    }
}
