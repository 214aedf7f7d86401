//! Raises a spectrum to a power, with a bound on the effect of round-off.

use super::compose::UNIT_ROUND_OFF;
use libm::{atan2, exp, log, log1p, sincos};
use realfft::num_complex::Complex;
use std::f64::consts::PI;

/// Above this power, logarithms are used: a sum of many terms that are each close to one.
pub(super) const MOST_BY_SQUARING: u64 = 1000;
/// The number of frequencies that share one sine and cosine. The addition theorem gives the others.
const BLOCK: usize = 64;
/// Powers below e^-200 count as zero.
const SMALLEST_LOG: f64 = -200.0;

/// Norms over all frequencies that bound the errors of raising a spectrum to a power.
pub(super) struct Powers {
    /// The 2-norm of the power.
    pub norm: f64,
    /// The 2-norm and the largest value of the next lower power times |r - 1|. An error of the transformed tail sums is
    /// multiplied by this and by the exponent.
    pub slope_norm: f64,
    pub largest_slope: f64,
    /// The 2-norm of the error of raising to the power.
    pub error_norm: f64,
}

/// Replaces each transformed tail sum F by `(total + (r - 1) F)^times`, with `r = e^(-2 pi i k / length)`.
///
/// Frequencies that matter after many steps have r close to 1, so an error of F counts little. It is multiplied by
/// `times |r - 1|`, which is of the order of the square root of `times`. An error of a transformed mass would be
/// multiplied by `times`.
pub(super) fn raise(spectrum: &mut [Complex<f64>], length: usize, total: f64, times: u64) -> Powers {
    let n = times as f64;
    let (log_total, share) = (n * log(total), 1.0 / total);
    let (mut squares, mut slope_squares, mut largest, mut error_squares) = (0.0, 0.0, 0.0_f64, 0.0);
    let half_angle = |k: usize| sincos(PI * k as f64 / length as f64);
    let within_block: [(f64, f64); BLOCK] = std::array::from_fn(half_angle);
    let mut block = (0.0, 1.0);
    for (k, z) in spectrum.iter_mut().enumerate() {
        if k % BLOCK == 0 {
            block = half_angle(k);
        }
        // sin(a + b) has only positive terms, so it keeps its relative accuracy.
        let ((sine_a, cosine_a), (sine_b, cosine_b)) = (block, within_block[k % BLOCK]);
        let sine = sine_a * cosine_b + cosine_a * sine_b;
        let cosine = cosine_a * cosine_b - sine_a * sine_b;
        let below_one = Complex::new(-2.0 * sine * sine, -2.0 * sine * cosine);
        let change = below_one * *z * share;
        let raised = if times <= MOST_BY_SQUARING {
            by_squaring(change, total, times)
        } else {
            by_logarithm(change, log_total, n)
        };
        *z = raised.power;
        let slope_square = raised.one_less_square * below_one.norm_sqr();
        squares += raised.power.norm_sqr();
        slope_squares += slope_square;
        largest = largest.max(slope_square);
        error_squares += raised.error_square;
    }
    // The other half of the spectrum is the complex conjugate of this half.
    let root = |square: f64| (2.0 * square).sqrt();
    Powers {
        norm: root(squares),
        slope_norm: root(slope_squares),
        largest_slope: largest.sqrt(),
        error_norm: root(error_squares),
    }
}

struct Raised {
    power: Complex<f64>,
    one_less_square: f64,
    error_square: f64,
}

/// Computes `(total (1 + change))^times` by repeated squaring.
///
/// The relative error is `4 times` units of round-off. `change` adds `16 times |change|` units, relative to the next
/// lower power.
fn by_squaring(change: Complex<f64>, total: f64, times: u64) -> Raised {
    let z = (change + 1.0) * total;
    let one_less = power(z, times - 1);
    let power = one_less * z;
    let unit = 4.0 * times as f64 * UNIT_ROUND_OFF;
    let one_less_square = one_less.norm_sqr();
    // The inequality (a + b)^2 <= 2 a^2 + 2 b^2 avoids square roots.
    let error_square = 2.0 * unit * unit * (power.norm_sqr() + 16.0 * change.norm_sqr() * one_less_square);
    Raised { power, one_less_square, error_square }
}

/// Computes the same power through `times ln(1 + change)`.
///
/// So the error of adding one is not multiplied by `times`. The relative error is `4 (1 + |logarithm|)` units of
/// round-off. `change` and the logarithm add `20 times |change| (1 + |change|) / |1 + change|^2` units.
fn by_logarithm(change: Complex<f64>, log_total: f64, n: f64) -> Raised {
    let change_square = change.norm_sqr();
    let square_less_one = (2.0 * change.re + change_square).max(-1.0);
    let log_size = 0.5 * n * log1p(square_less_one);
    if log_size < SMALLEST_LOG {
        let negligible = exp(2.0 * (log_total + SMALLEST_LOG));
        return Raised {
            power: Complex::new(0.0, 0.0),
            one_less_square: negligible,
            error_square: negligible,
        };
    }
    let angle = n * atan2(change.im, 1.0 + change.re);
    let (sine, cosine) = sincos(angle);
    let power = Complex::new(cosine, sine) * exp(log_total + log_size);
    let square = power.norm_sqr();
    let size = change_square.sqrt();
    let relative = UNIT_ROUND_OFF
        * (4.0 * (1.0 + (log_total + log_size).abs() + angle.abs())
            + 20.0 * n * size * (1.0 + size) / (1.0 + square_less_one));
    Raised {
        power,
        one_less_square: square / (1.0 + square_less_one),
        error_square: square * relative * relative,
    }
}

/// Computes `z^exponent` by repeated squaring, with a relative error of at most `3 * exponent` units of round-off.
fn power(z: Complex<f64>, exponent: u64) -> Complex<f64> {
    let (mut result, mut square, mut rest) = (Complex::new(1.0, 0.0), z, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result *= square;
        }
        square *= square;
        rest >>= 1;
    }
    result
}
