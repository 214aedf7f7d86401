//! The Gaussian pair N(0, 1) against N(mu, 1) in closed form (Balle and Wang 2018; Dong, Roth and Su 2022).
//!
//! ```text
//! delta(epsilon) = Phi(a) - e^epsilon Phi(b),   a = mu/2 - epsilon/mu,   b = a - mu
//! ```
//!
//! This is exact for fixed order, and an upper bound for every scheme that uses a record at most once per epoch. The
//! code computes phi(a) (R(a) - R(b)) with R = Phi/phi, which has no cancellation. Proof: `docs/proofs/fixed-order.md`.

use crate::root::{Bracket, narrow};
use libm::{exp, expm1, log, sqrt};
use misdeal_core::normal;

/// A pair of Gaussians with unit variance, `gdp_mu` apart.
///
/// ```
/// use misdeal_theory::gaussian::Gaussian;
/// let one_epoch = Gaussian::fixed_order(1.0, 1);
/// assert!((one_epoch.epsilon_upper_bound(1e-5) - 4.377178).abs() < 1e-6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaussian {
    /// The distance between the two means, in standard deviations.
    pub gdp_mu: f64,
}

/// The assumed error of `log_delta`. The largest observed error is 1e-12.
const LOG_DELTA_ERROR: f64 = 1e-11;

impl Gaussian {
    /// The pair of a scheme that uses every record once per epoch, in a known batch: mu = sqrt(epochs) / noise.
    ///
    /// It is exact for fixed order, and an upper bound for every scheme that uses each record once per epoch, adaptive
    /// or not.
    pub fn fixed_order(noise_multiplier: f64, epochs: u64) -> Self {
        Gaussian { gdp_mu: sqrt(epochs as f64) / noise_multiplier }
    }

    /// The pair whose delta at `epsilon` is `delta`, accurate to about 1e-12 relative.
    pub fn with_epsilon(epsilon: f64, delta: f64) -> Self {
        let excess = |log_mu: f64| Gaussian { gdp_mu: exp(log_mu) }.log_delta(epsilon) - log(delta);
        let (mut low, mut high) = (-1.0, 1.0);
        while excess(low) > 0.0 && low > -600.0 {
            low *= 2.0;
        }
        while excess(high) < 0.0 && high < 600.0 {
            high *= 2.0;
        }
        let root =
            narrow(excess, Bracket { low: (low, excess(low)), high: (high, excess(high)) }, 1e-13 * high);
        Gaussian { gdp_mu: exp(root.low.0) }
    }

    /// The delta at `epsilon >= 0`, accurate to about 1e-12 relative.
    pub fn delta(&self, epsilon: f64) -> f64 {
        exp(self.log_delta(epsilon))
    }

    /// The logarithm of delta at `epsilon >= 0`.
    pub fn log_delta(&self, epsilon: f64) -> f64 {
        let mu = self.gdp_mu;
        let a = 0.5 * mu - epsilon / mu;
        let b = a - mu;
        if mu < 0.5 {
            let middle = 0.5 * (a + b);
            let integral: f64 = GAUSS_LEGENDRE
                .iter()
                .map(|&[x, weight]| {
                    weight * (ratio(middle + 0.5 * mu * x).slope + ratio(middle - 0.5 * mu * x).slope)
                })
                .sum();
            log_density(a) + log(0.5 * mu * integral)
        } else if a < 0.0 {
            log_density(a) + log(ratio(a).value - ratio(b).value)
        } else {
            let log_cdf = normal::log_cdf(a);
            log_cdf + log(-expm1(log_density(a) + log(ratio(b).value) - log_cdf))
        }
    }

    /// The smallest epsilon >= 0 with `delta(epsilon) <= delta`, rounded up: never too small.
    ///
    /// It is too large by at most about 1e-10 relative or 1e-11 absolute.
    pub fn epsilon_upper_bound(&self, delta: f64) -> f64 {
        self.epsilon_where(log(delta) - LOG_DELTA_ERROR).high.0
    }

    /// The smallest epsilon >= 0 with `delta(epsilon) <= delta`, rounded down: never too large.
    ///
    /// Within 1e-11 of delta = 1 it is 0.
    pub fn epsilon_lower_bound(&self, delta: f64) -> f64 {
        self.epsilon_where(log(delta) + LOG_DELTA_ERROR).low.0
    }

    /// The false-negative rate of the best test with this `false_positive_rate`: Phi(Phi^-1(1 - rate) - mu).
    pub fn false_negative_rate(&self, false_positive_rate: f64) -> f64 {
        match false_positive_rate {
            rate if rate <= 0.0 => 1.0,
            rate if rate >= 1.0 => 0.0,
            rate => normal::cdf(-normal::quantile(rate) - self.gdp_mu),
        }
    }

    /// A bracket around the epsilon at which `log_delta` falls to `log_delta_wanted`, one part in 1e14 wide.
    fn epsilon_where(self, log_delta_wanted: f64) -> Bracket {
        let f = |epsilon: f64| self.log_delta(epsilon) - log_delta_wanted;
        let zero = (0.0, f(0.0));
        if zero.1 <= 0.0 {
            return Bracket { low: zero, high: zero };
        }
        // delta <= Phi(a) <= e^(-a^2/2) at a = mu/2 - epsilon/mu, so epsilon is at most this.
        let mu = self.gdp_mu;
        let high = 0.5 * mu * mu + mu * sqrt(-2.0 * log_delta_wanted.min(-1e-9)) + 1e-300;
        let high = (high, f(high));
        // The search uses the logarithm of epsilon, so the smallest values are as accurate as the largest.
        let mut low = (high.0, high.1);
        while low.1 <= 0.0 && low.0 > f64::MIN_POSITIVE {
            low.0 *= 0.125;
            low.1 = f(low.0);
        }
        let start = Bracket { low: (log(low.0), low.1), high: (log(high.0), high.1) };
        let end = narrow(|x| f(exp(x)), start, 1e-14);
        let nudge = 4.0 * f64::EPSILON * (1.0 + end.high.0.abs());
        Bracket { low: (exp(end.low.0 - nudge), end.low.1), high: (exp(end.high.0 + nudge), end.high.1) }
    }
}

fn log_density(x: f64) -> f64 {
    -0.5 * x * x - 0.918_938_533_204_672_8
}

struct Ratio {
    /// The ratio Phi(x) / phi(x).
    value: f64,
    /// The derivative of `value`: 1 + x Phi(x) / phi(x).
    slope: f64,
}

/// Mills' ratio at -x and its derivative.
///
/// It is computed from the distribution function, or far to the left by Laplace's continued fraction Phi(-t)/phi(t) =
/// 1/(t + 1/(t + 2/(t + 3/(t + ...)))).
fn ratio(x: f64) -> Ratio {
    if x > -8.0 {
        let value = normal::cdf(x) / normal::density(x);
        return Ratio { value, slope: 1.0 + x * value };
    }
    let t = -x;
    let rest = (1..=60).rev().fold(0.0, |rest, k| f64::from(k) / (t + rest));
    Ratio { value: 1.0 / (t + rest), slope: rest / (t + rest) }
}

/// Half of the Gauss-Legendre nodes on [-1, 1] with their weights, order 16. The other half mirrors these.
const GAUSS_LEGENDRE: [[f64; 2]; 8] = [
    [0.0950125098376374402, 0.1894506104550684963],
    [0.2816035507792589132, 0.1826034150449235889],
    [0.4580167776572273863, 0.1691565193950025382],
    [0.6178762444026437484, 0.1495959888165767321],
    [0.7554044083550030339, 0.1246289712555338721],
    [0.8656312023878317439, 0.0951585116824927848],
    [0.9445750230732325761, 0.0622535239386478929],
    [0.9894009349916499326, 0.0271524594117540949],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Golden {
        /// The columns mu, epsilon, ln delta.
        log_delta: Vec<[f64; 3]>,
        /// The columns mu, delta, epsilon.
        epsilon: Vec<[f64; 3]>,
    }

    /// Reference values from mpmath at 60 digits (`testdata/scripts/gaussian.py`).
    #[test]
    fn agrees_with_high_precision_values() {
        let golden: Golden = toml::from_str(include_str!("../../../testdata/gaussian.toml")).unwrap();
        assert!(golden.log_delta.len() > 100 && golden.epsilon.len() > 100);
        for [gdp_mu, epsilon, exact] in golden.log_delta {
            let ours = Gaussian { gdp_mu }.log_delta(epsilon);
            assert!((ours - exact).abs() < 0.1 * LOG_DELTA_ERROR, "mu {gdp_mu}, {epsilon}: {ours} {exact}");
        }
        for [gdp_mu, delta, exact] in golden.epsilon {
            let pair = Gaussian { gdp_mu };
            let (low, high) = (pair.epsilon_lower_bound(delta), pair.epsilon_upper_bound(delta));
            assert!(low <= exact && exact <= high, "mu {gdp_mu}, delta {delta}: {low} {exact} {high}");
            assert!(high - low <= 1e-9 * exact + 2e-11, "mu {gdp_mu}, delta {delta}: {low} {exact} {high}");
            if exact > 0.0 {
                let same = Gaussian::with_epsilon(exact, delta).gdp_mu;
                assert!((same / gdp_mu - 1.0).abs() < 1e-9, "mu {gdp_mu}, delta {delta}: {same}");
            }
        }
    }

    #[test]
    fn epsilon_is_zero_where_delta_is_large_enough() {
        let pair = Gaussian { gdp_mu: 1e-3 };
        assert!(pair.epsilon_upper_bound(0.01).abs() < 1e-300);
        assert!(pair.epsilon_lower_bound(0.01).abs() < 1e-300);
    }

    #[test]
    fn trade_off_has_the_right_corners() {
        let pair = Gaussian { gdp_mu: 2.0 };
        assert!((pair.false_negative_rate(0.0) - 1.0).abs() < 1e-300);
        assert!(pair.false_negative_rate(1.0).abs() < 1e-300);
        // The curve is its own inverse.
        let rate = pair.false_negative_rate(0.3);
        assert!((pair.false_negative_rate(rate) - 0.3).abs() < 1e-12);
    }
}
