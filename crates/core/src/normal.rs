//! The standard normal law: density, distribution function and quantile, accurate far into both tails.

use libm::{erfc, log, log1p, sqrt};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// The density of N(0, 1) at `x`.
///
/// Beyond 37.5 standard deviations the value is subnormal and loses digits. Beyond 38.6 it is 0.
pub fn density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x) / sqrt(2.0 * PI)
}

/// P(Z <= x) for a standard normal Z.
///
/// Rounding `-x / sqrt 2` costs a relative error of up to 1.5 x^2 units of round-off. This is 1e-15 near 0 and 2e-13 at
/// x = -37.5, where the result is the smallest normal number. Below -38.5 the result is 0; use [`log_cdf`] there.
pub fn cdf(x: f64) -> f64 {
    0.5 * erfc(-x * FRAC_1_SQRT_2)
}

/// ln P(Z <= x), for any finite `x`.
///
/// Above -37 it uses `erfc`, through `ln_1p` if the probability is near one. Below -37 it uses the asymptotic series of
/// Mills' ratio, where the terms left out are below 1e-16.
pub fn log_cdf(x: f64) -> f64 {
    if x > 0.0 {
        log1p(-cdf(-x))
    } else if x > -37.0 {
        log(cdf(x))
    } else {
        let r = 1.0 / (x * x);
        let series = -r * (1.0 - r * (2.5 - r * (37.0 / 3.0 - r * 88.25)));
        -0.5 * x * x - log(-x) - 0.5 * log(2.0 * PI) + series
    }
}

/// The `z <= 0` with P(Z <= z) = p, for `0 < p <= 1/2`, accurate to about 1e-15 relative.
///
/// It uses the rational approximations of Wichura (1988), "Algorithm AS 241: the percentage points of the normal
/// distribution". They are accurate down to p = 1e-316. The noise needs only 2^-97.
pub fn lower_quantile(p: f64) -> f64 {
    debug_assert!(p > 0.0 && p <= 0.5);
    let q = 0.5 - p;
    if q <= 0.425 {
        let r = 0.180625 - q * q;
        return -q * horner(&CENTRAL_NUMERATOR, r) / horner(&CENTRAL_DENOMINATOR, r);
    }
    let r = sqrt(-log(p));
    if r <= 5.0 {
        -horner(&MIDDLE_NUMERATOR, r - 1.6) / horner(&MIDDLE_DENOMINATOR, r - 1.6)
    } else {
        -horner(&FAR_NUMERATOR, r - 5.0) / horner(&FAR_DENOMINATOR, r - 5.0)
    }
}

/// The `z` with P(Z <= z) = p, for `0 < p < 1`.
pub fn quantile(p: f64) -> f64 {
    if p <= 0.5 { lower_quantile(p) } else { -lower_quantile(1.0 - p) }
}

/// The value at `x` of the polynomial with `coefficients`, the constant first.
fn horner(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, &c| sum * x + c)
}

const CENTRAL_NUMERATOR: [f64; 8] = [
    3.387132872796366608,
    133.14166789178437745,
    1971.5909503065514427,
    13731.693765509461125,
    45921.953931549871457,
    67265.770927008700853,
    33430.575583588128105,
    2509.0809287301226727,
];
const CENTRAL_DENOMINATOR: [f64; 8] = [
    1.0,
    42.313330701600911252,
    687.1870074920579083,
    5394.1960214247511077,
    21213.794301586595867,
    39307.89580009271061,
    28729.085735721942674,
    5226.495278852545925,
];
const MIDDLE_NUMERATOR: [f64; 8] = [
    1.42343711074968357734,
    4.6303378461565452959,
    5.7694972214606914055,
    3.64784832476320460504,
    1.27045825245236838258,
    0.24178072517745061177,
    0.0227238449892691845833,
    7.7454501427834140764e-4,
];
const MIDDLE_DENOMINATOR: [f64; 8] = [
    1.0,
    2.05319162663775882187,
    1.6763848301838038494,
    0.68976733498510000455,
    0.14810397642748007459,
    0.0151986665636164571966,
    5.475938084995344946e-4,
    1.05075007164441684324e-9,
];
const FAR_NUMERATOR: [f64; 8] = [
    6.6579046435011037772,
    5.4637849111641143699,
    1.7848265399172913358,
    0.29656057182850489123,
    0.026532189526576123093,
    0.0012426609473880784386,
    2.71155556874348757815e-5,
    2.01033439929228813265e-7,
];
const FAR_DENOMINATOR: [f64; 8] = [
    1.0,
    0.59983220655588793769,
    0.13692988092273580531,
    0.0148753612908506148525,
    7.868691311456132591e-4,
    1.8463183175100546818e-5,
    1.4215117583164458887e-7,
    2.04426310338993978564e-15,
];

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp)]
    use super::*;

    fn assert_close(ours: f64, exact: f64, tolerance: f64) {
        assert!((ours / exact - 1.0).abs() < tolerance, "{ours} for {exact}");
    }

    /// Reference values from mpmath at 40 digits (`testdata/scripts/normal.py`).
    #[test]
    fn agrees_with_high_precision_values() {
        #[derive(serde::Deserialize)]
        struct Golden {
            quantile: Vec<[f64; 2]>,
            log_cdf: Vec<[f64; 2]>,
        }
        let golden: Golden = toml::from_str(include_str!("../../../testdata/normal.toml")).unwrap();
        assert!(golden.quantile.len() > 50 && golden.log_cdf.len() > 30);
        for [p, z] in golden.quantile {
            assert_close(lower_quantile(p), z, 2e-15);
        }
        for [x, log_p] in golden.log_cdf {
            assert_close(log_cdf(x), log_p, 2e-14);
        }
    }

    #[test]
    fn quantile_inverts_cdf_on_both_sides() {
        for i in 1..1000 {
            let x = f64::from(i - 500) * 0.016;
            if x < 5.0 {
                assert!((quantile(cdf(x)) - x).abs() < 1e-9 * x.abs().max(1.0), "{x}");
            }
            assert_eq!(density(x), density(-x));
        }
        assert_eq!(quantile(0.5), 0.0);
    }
}
