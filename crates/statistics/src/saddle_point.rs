//! Loader's saddle-point form of the binomial probabilities. It loses no digits for any number of trials.
//!
//! Source: Loader (2000), "Fast and accurate computation of binomial probabilities". With q = 1 - p,
//!
//! ```text
//! P(k of m) = sqrt(m / (2 pi k (m-k))) exp(S(m) - S(k) - S(m-k) - D(k, mp) - D(m-k, mq))
//! ```
//!
//! where S is the error of Stirling's formula. D(x, y) = x ln(x/y) + y - x is the deviance of a count x with mean y.

use libm::{log, log1p};

/// S(x) = ln(x!) - ln(sqrt(2 pi x) (x/e)^x) for x >= 1/2, within about 1e-15 absolute.
///
/// From 15.5 on it uses six terms of Stirling's series; the next term is below 1e-17. Below 15.5 it uses the recursion
/// S(x) = S(x + 1) + (x + 1/2) ln(1 + 1/x) - 1.
pub(crate) fn stirling_error(x: f64) -> f64 {
    let (mut y, mut sum) = (x, 0.0);
    while y < 15.5 {
        sum += (y + 0.5) * log1p(1.0 / y) - 1.0;
        y += 1.0;
    }
    let r = 1.0 / (y * y);
    let series = 1.0 / 1680.0 - r * (1.0 / 1188.0 - r * (691.0 / 360_360.0));
    sum + (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * series))) / y
}

/// The deviance D(x, mean) = x ln(x / mean) + mean - x.
///
/// `excess` is mean - x, from a formula without cancellation.
///
/// Accurate to a few units in the last place of `excess`, for positive `x` and `mean`.
pub(crate) fn deviance(x: f64, mean: f64, excess: f64) -> f64 {
    let relative = excess / x;
    if relative.abs() < SERIES_LIMIT { -x * log1p_minus(relative) } else { x * log(x / mean) + excess }
}

/// ln(1 + x) - x for `x > -1`, to a few units in the last place.
///
/// With r = x/(2 + x), ln(1 + x) = 2 artanh r and 2r - x = -x r. So the leading terms cancel in the formula and not in
/// floating point.
pub(crate) fn log1p_minus(x: f64) -> f64 {
    if x.abs() >= SERIES_LIMIT {
        return log1p(x) - x;
    }
    let r = x / (2.0 + x);
    let y = r * r;
    let series = ODD_RECIPROCALS.iter().rev().fold(0.0, |sum, &c| sum * y + c);
    r * (2.0 * y * series - x)
}

/// Below this limit |r| < 1/6, and the first omitted term of the series is below 1e-17 of the sum.
const SERIES_LIMIT: f64 = 0.28;

/// 1/3, 1/5, ...: the coefficients of the artanh series after its first term.
const ODD_RECIPROCALS: [f64; 10] = [
    1.0 / 3.0,
    1.0 / 5.0,
    1.0 / 7.0,
    1.0 / 9.0,
    1.0 / 11.0,
    1.0 / 13.0,
    1.0 / 15.0,
    1.0 / 17.0,
    1.0 / 19.0,
    1.0 / 21.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference values from mpmath.
    #[test]
    fn stirling_errors_are_exact() {
        for (x, exact) in [
            (1.0, 0.08106146679532725822),
            (2.0, 0.041340695955409294094),
            (7.0, 0.011896709945891770095),
            (15.0, 0.005554733551962801371),
        ] {
            assert!((stirling_error(x) - exact).abs() < 2e-15, "{x}");
        }
        for i in 1..200 {
            let x = f64::from(i);
            let exact = (x + 0.5) * log1p(1.0 / x) - 1.0;
            assert!((stirling_error(x) - stirling_error(x + 1.0) - exact).abs() < 1e-16 * (x + 4.0), "{x}");
        }
    }

    #[test]
    fn both_branches_of_log1p_minus_meet() {
        for limit in [SERIES_LIMIT, -SERIES_LIMIT] {
            let inside = log1p_minus(limit * (1.0 - 1e-15));
            assert!((inside / (log1p(limit) - limit) - 1.0).abs() < 1e-14, "{limit}");
        }
        for i in 1..60 {
            // The first terms of the plain series suffice here.
            let x = 1e-3 * libm::exp2(-f64::from(i));
            for x in [x, -x] {
                let plain = x * x * (-0.5 + x * (1.0 / 3.0 - x * (0.25 - x * (0.2 - x / 6.0))));
                assert!((log1p_minus(x) / plain - 1.0).abs() < 1e-15, "{x}");
            }
        }
    }

    #[test]
    fn deviance_is_the_same_by_both_formulas() {
        for (x, mean) in [(3.0_f64, 3.9), (100.0, 125.0), (17.0, 13.0), (1e6, 1.2e6)] {
            let plain = x * log(x / mean) + mean - x;
            assert!((deviance(x, mean, mean - x) / plain - 1.0).abs() < 1e-12, "{x} {mean}");
        }
        assert!(deviance(1.0, 1e-300, 1e-300 - 1.0) > 600.0);
    }
}
