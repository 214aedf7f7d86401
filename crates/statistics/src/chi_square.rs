//! Chi-square laws: both tails, for any number of degrees of freedom from 1.
//!
//! Half of the value has the Gamma law with shape a, half of the degrees of freedom. With x = ln(y) its density is
//! log-concave:
//!
//! ```text
//! y^a e^-y / Gamma(a) = sqrt(a / (2 pi)) exp(-D(a, y) - S(a)),
//! ```
//!
//! where D is Loader's deviance and S is the error of Stirling's formula. The mass on the far side of the mode is that
//! density times one smooth integral, as for [`Beta`](crate::beta::Beta).

use crate::quadrature::integrate;
use crate::saddle_point::{deviance, log1p_minus, stirling_error};
use libm::{exp, expm1, sqrt};
use std::f64::consts::TAU;

/// The integral ends when the integrand has decreased to exp(-40), 4e-18 of its start.
const NEGLIGIBLE: f64 = 40.0;

/// Longer panels are split near their beginning.
const LONGEST_PANEL: f64 = 6.0;

/// P(X <= value) and P(X > value) for a chi-square X with `freedom` degrees of freedom, at least 1.
///
/// The smaller one is within about 1e-12 relative.
///
/// ```
/// use misdeal_statistics::chi_square;
/// // With two degrees of freedom the upper tail is exp(-x / 2).
/// let [below, above] = chi_square::tails(2.0, 3.0);
/// assert!((above - (-1.5_f64).exp()).abs() < 1e-15 && (below + above - 1.0).abs() < 1e-15);
/// ```
pub fn tails(freedom: f64, value: f64) -> [f64; 2] {
    debug_assert!(freedom >= 1.0);
    if value.is_nan() || value <= 0.0 {
        return [0.0, 1.0];
    }
    if value == f64::INFINITY {
        return [1.0, 0.0];
    }
    let (a, y) = (0.5 * freedom, 0.5 * value);
    let density = sqrt(a / TAU) * exp(-deviance(a, y, y - a) - stirling_error(a));
    let fall = Fall { shape: a, y, sign: if y < a { -1.0 } else { 1.0 } };
    let end = fall.end();
    let panel = |from: f64, to: f64| integrate(from, to, |s| exp(-fall.at(s)));
    let mass = if end < LONGEST_PANEL {
        panel(0.0, end)
    } else {
        panel(0.0, end / 16.0) + panel(end / 16.0, end / 4.0) + panel(end / 4.0, end)
    };
    let far = (density * mass).min(1.0);
    if y < a { [far, 1.0 - far] } else { [1.0 - far, far] }
}

/// The decrease of the density of ln(y), away from the mode.
struct Fall {
    shape: f64,
    y: f64,
    /// 1 above the mode, -1 below it.
    sign: f64,
}

impl Fall {
    /// |y - a| s + y (e^(+-s) - 1 -+ s), a sum of positive terms.
    fn at(&self, s: f64) -> f64 {
        let e = expm1(self.sign * s);
        let bend = if e.abs() < 0.28 { -log1p_minus(e) } else { e - self.sign * s };
        (self.y - self.shape).abs() * s + self.y * bend
    }

    /// An s near the point where [`at`](Self::at) is [`NEGLIGIBLE`]. The function is convex, so Newton's steps end
    /// beyond that point.
    fn end(&self) -> f64 {
        let excess = (self.y - self.shape).abs();
        let mut s = 2.0 * NEGLIGIBLE / (excess + sqrt(excess * excess + 2.0 * NEGLIGIBLE * self.y));
        for _ in 0..30 {
            s = s.min(200.0 + 2.0 * NEGLIGIBLE / self.shape);
            let slope = excess + self.y * (expm1(self.sign * s)).abs();
            let step = (NEGLIGIBLE - self.at(s)) / slope;
            s += step;
            if step.abs() < 0.02 * s {
                break;
            }
        }
        s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::normal;

    fn assert_close(ours: f64, exact: f64, tolerance: f64, what: &str) {
        assert!((ours / exact - 1.0).abs() < tolerance, "{what}: {ours} for {exact}");
    }

    #[test]
    fn one_degree_of_freedom_is_a_squared_normal() {
        for i in 1..240 {
            let z = f64::from(i) * 0.05;
            let [below, above] = tails(1.0, z * z);
            assert_close(above, 2.0 * normal::cdf(-z), 1e-12, "above");
            if z < 1.0 {
                assert_close(below, libm::erf(z * std::f64::consts::FRAC_1_SQRT_2), 1e-12, "below");
            }
        }
        // Near 0 the density of |Z| is 2 phi(0).
        for z in [1e-3, 1e-6, 1e-12] {
            assert_close(tails(1.0, z * z)[0], 2.0 * normal::density(0.0) * z, 1e-6, "near 0");
        }
    }

    /// P(chi-square of 2k above 2y) = P(Poisson(y) < k), summed term by term.
    #[test]
    fn even_degrees_of_freedom_are_poisson_sums() {
        for (k, ys) in [
            (1, [0.01, 0.9, 40.0]),
            (5, [0.3, 5.0, 60.0]),
            (50, [8.0, 45.0, 200.0]),
            (800, [500.0, 801.0, 1200.0]),
        ] {
            for y in ys {
                let log_term = |i: i32| {
                    let i = f64::from(i);
                    i * libm::log(y) - y - libm::lgamma(i + 1.0)
                };
                let above: f64 = (0..k).map(|i| exp(log_term(i))).sum();
                let below: f64 = (k..k + 4000).map(|i| exp(log_term(i))).sum();
                let found = tails(2.0 * f64::from(k), 2.0 * y);
                // The reference loses digits in lgamma.
                assert_close(found[0], below, 3e-11, "below");
                assert_close(found[1], above, 3e-11, "above");
            }
        }
    }

    #[test]
    fn many_degrees_of_freedom_are_nearly_normal() {
        for freedom in [1e6, 1e9] {
            for z in [-3.0, -0.5, 0.5, 3.0_f64] {
                // Wilson and Hilferty's cube root.
                let ratio: f64 = 2.0 / (9.0 * freedom);
                let value = freedom * libm::pow(1.0 - ratio + z * ratio.sqrt(), 3.0);
                let [below, above] = tails(freedom, value);
                assert_close(below, normal::cdf(z), 2e-4, "below");
                assert_close(above, normal::cdf(-z), 2e-4, "above");
            }
        }
    }
}
