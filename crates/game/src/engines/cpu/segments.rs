//! Computes exp(z / s) directly from 32 random bits, with piecewise polynomials.
//!
//! They replace the quantile and the exponential.
//!
//! A random word is a sign and a magnitude m. Its Gaussian number z is the quantile at probability (m + 1/2) / 2^32
//! on that side ([`misdeal_core::gaussian`]). Written as a float, the word has an exponent (its octave) and a
//! mantissa. Each half octave of each side is a *segment*, on which exp(z / r) is a polynomial of degree five (or
//! seven) in the mantissa.
//!
//! - *Near* segments are the sixteen half octaves nearest the centre, on either side. They cover all but 1 in 256
//!   draws. A segment's index consists of four bits of the float and the sign. So the coefficients fit the registers of
//!   one table look-up on AVX-512.
//! - *Far* segments are the next eight octaves. Their tables are in memory.
//! - The remaining draws, one in 65,536, are computed exactly in f64.
//!
//! The relative error of the fit is 1e-6 for r >= 1. A smaller noise multiplier s uses r = 2^k s and squares the value
//! k times.
//!
//! # Why is the sign bit 4 of the word?
//! Because that is its place in the table index, so no shift is needed.

use misdeal_core::{FIRST_BODY_MAGNITUDE, gaussian, normal, sign_and_magnitude};

/// The number of coefficients of the polynomials for sums (degree five).
pub const FOR_SUMS: usize = 6;
/// The number of coefficients of the polynomials for single values (degree seven).
pub const FOR_SINGLE_VALUES: usize = 8;
/// The number of segments in a table: two sides, eight octaves, two halves.
pub const SEGMENTS: usize = 32;
/// The first word in a near segment. All larger words are also in near segments.
pub const FIRST_NEAR_WORD: u32 = 1 << 24;
/// The bits of a float's mantissa below the bit that separates the halves of an octave.
pub const LOCAL_BITS: u32 = 0x003f_ffff;
/// The middle of a segment, after the bits above it are set to make a float in [1, 3/2).
pub const LOCAL_CENTRE: f32 = 1.25;

/// Polynomials with N coefficients for exp(z / s) - offset, for one noise multiplier.
#[derive(Debug, Clone)]
pub struct Segments<const N: usize> {
    /// The coefficients.
    pub tables: Tables<N>,
    /// The number subtracted before the fit, 0 or 1. With 1, sums of values near one keep their digits.
    pub offset: f32,
    /// The number of times a value must be squared.
    pub squarings: u32,
    noise_multiplier: f64,
}

impl Segments<FOR_SINGLE_VALUES> {
    /// Fits exp(z / s) for values that are used one by one.
    ///
    /// The relative error is 4e-7, doubled by every squaring.
    pub fn for_single_values(noise_multiplier: f64) -> Self {
        Self::fit(noise_multiplier, false, &CHEBYSHEV)
    }
}

impl Segments<FOR_SUMS> {
    /// Fits exp(z / s), minus one if `offset` (for s of 2 and more), for values that are summed.
    ///
    /// The fit uses Gauss-Legendre points. So the integrals of a polynomial and of its square equal the function's, to
    /// the accuracy of Gaussian quadrature. The error of a single value (up to 1.5e-6) averages out, and sums over many
    /// draws have a negligible bias.
    pub fn for_sums(noise_multiplier: f64, offset: bool) -> Self {
        Self::fit(noise_multiplier, offset, &GAUSS_LEGENDRE)
    }
}

impl<const N: usize> Segments<N> {
    fn fit(noise_multiplier: f64, offset: bool, points: &[f64; N]) -> Self {
        let squarings = squarings(noise_multiplier);
        debug_assert!(!offset || squarings == 0);
        let root = noise_multiplier * f64::from(1_u32 << squarings);
        let tables =
            Tables::fit(points, |z| if offset { libm::expm1(z / root) } else { libm::exp(z / root) });
        Segments { tables, offset: f32::from(offset), squarings, noise_multiplier }
    }

    /// The value exp(z / s) of a word below [`FIRST_NEAR_WORD`].
    ///
    /// It is inlined, so that `mul_add` becomes one instruction on processors that have it.
    #[inline(always)]
    pub fn far_value(&self, word: u32, more: impl FnOnce() -> u64) -> f64 {
        let (sign, magnitude) = sign_and_magnitude(word);
        if magnitude < FIRST_BODY_MAGNITUDE {
            return self.tail_value(word, more());
        }
        self.finish(self.tables.far_body(sign, magnitude))
    }

    /// The exact value exp(z / s) of a word in the tail.
    #[cold]
    fn tail_value(&self, word: u32, more: u64) -> f64 {
        libm::exp(gaussian(word, || more) / self.noise_multiplier)
    }

    /// The final value: the fitted value plus the offset, squared as often as the fit needs.
    #[inline(always)]
    pub fn finish(&self, fitted: f32) -> f64 {
        (0..self.squarings).fold(f64::from(fitted) + f64::from(self.offset), |value, _| value * value)
    }
}

/// The coefficients of one function of z on all segments.
#[derive(Debug, Clone)]
pub struct Tables<const N: usize> {
    /// `near[k][i]` is the coefficient of degree k on near segment i.
    pub near: [[f32; SEGMENTS]; N],
    /// `far[i][k]` is the coefficient of degree k on far segment i.
    pub far: [[f32; N]; SEGMENTS],
}

impl<const N: usize> Tables<N> {
    /// The polynomials that equal `function` of z at the images of `points`.
    fn fit(points: &[f64; N], function: impl Fn(f64) -> f64) -> Self {
        let value = |sign: bool, magnitude: f64| {
            let z = normal::lower_quantile((magnitude + 0.5) * 2.0_f64.powi(-32));
            function(if sign { -z } else { z })
        };
        let mut near = [[0.0; SEGMENTS]; N];
        let mut far = [[0.0; N]; SEGMENTS];
        for sign in [false, true] {
            for half_octave in 0..16_u32 {
                let start = 1.0 + 0.5 * f64::from(half_octave % 2);
                let octave = half_octave / 2;
                let scale = f64::from(FIRST_NEAR_WORD << octave);
                let coefficients = interpolate(points, start, |local| {
                    value(sign, 0.5 * scale * local + excess(sign, octave))
                });
                let index = near_segment((scale * start) as u32 | if sign { 0x10 } else { 0 }).0;
                for (table, coefficient) in near.iter_mut().zip(coefficients) {
                    table[index] = coefficient;
                }
                let scale = f64::from(FIRST_BODY_MAGNITUDE << octave);
                far[far_segment(sign, (scale * start) as u32).0] =
                    interpolate(points, start, |local| value(sign, scale * local));
            }
        }
        Tables { near, far }
    }

    /// The function at a word of the body below [`FIRST_NEAR_WORD`].
    #[inline(always)]
    pub fn far_body(&self, sign: bool, magnitude: u32) -> f32 {
        let (index, local) = far_segment(sign, magnitude);
        self.far[index].iter().rev().fold(0.0_f32, |sum, &c| sum.mul_add(local, c))
    }
}

impl Tables<FOR_SINGLE_VALUES> {
    /// Fits z itself, with an error of at most 4e-7 in the body.
    pub fn for_gaussians() -> Self {
        Self::fit(&CHEBYSHEV, |z| z)
    }
}

/// The number of squarings. The fit needs r = 2^k s of at least one.
pub fn squarings(noise_multiplier: f64) -> u32 {
    (0..30).find(|&k| noise_multiplier * f64::from(1_u32 << k) >= 1.0).unwrap_or(30)
}

/// The segment of a near word, and its local coordinate in [-1/4, 1/4).
///
/// Every instruction set must give the same result.
pub fn near_segment(word: u32) -> (usize, f32) {
    // The conversion truncates, because rounding to the nearest would move the top words out of their octave.
    let excess_bits = 8 - word.leading_zeros().min(8);
    let bits = ((word >> excess_bits << excess_bits) as f32).to_bits();
    let index = bits >> 22 & 0xf | word & 0x10;
    (index as usize, f32::from_bits(bits & LOCAL_BITS | 0x3f80_0000) - LOCAL_CENTRE)
}

/// The segment and coordinate as in [`near_segment`], for a magnitude below half of [`FIRST_NEAR_WORD`].
#[inline(always)]
fn far_segment(sign: bool, magnitude: u32) -> (usize, f32) {
    let bits = (magnitude as f32).to_bits();
    let index = bits >> 22 & 0xf | u32::from(sign) << 4;
    (index as usize, f32::from_bits(bits & LOCAL_BITS | 0x3f80_0000) - LOCAL_CENTRE)
}

/// The average difference between a near word's magnitude and half of its truncated float.
///
/// A word w = 32 k + 16 sign + j has magnitude m = 16 k + j. Its float in octave e drops the bits below 2^(e + 1).
/// Without this correction there would be a bias that grows with the number of epochs.
fn excess(sign: bool, octave: u32) -> f64 {
    let dropped = f64::from(2_u32 << octave);
    if dropped <= 16.0 {
        0.5 * ((dropped - 1.0) / 2.0 - if sign { 16.0 } else { 0.0 } + 7.5)
    } else {
        0.5 * (dropped / 2.0 - 1.0)
    }
}

/// The zeros of the Legendre polynomial of degree six.
const GAUSS_LEGENDRE: [f64; FOR_SUMS] = [
    -0.932469514203152028,
    -0.661209386466264514,
    -0.238619186083196909,
    0.238619186083196909,
    0.661209386466264514,
    0.932469514203152028,
];

/// The zeros of the Chebyshev polynomial of degree eight, which keep the largest error small.
const CHEBYSHEV: [f64; FOR_SINGLE_VALUES] = [
    -0.980785280403230449,
    -0.831469612302545237,
    -0.555570233019602225,
    -0.195090322016128268,
    0.195090322016128268,
    0.555570233019602225,
    0.831469612302545237,
    0.980785280403230449,
];

/// The polynomial that equals `value` at `points`, moved from [-1, 1] to [start, start + 1/2).
///
/// It is in powers of the distance from the middle.
fn interpolate<const N: usize>(points: &[f64; N], start: f64, value: impl Fn(f64) -> f64) -> [f32; N] {
    let nodes = points.map(|point| 0.25 * point);
    // Newton's divided differences, then expanded. In f64 the expansion loses nothing that is visible in f32.
    let mut differences = nodes.map(|node| value(start + 0.25 + node));
    for order in 1..N {
        for i in (order..N).rev() {
            differences[i] = (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - order]);
        }
    }
    let mut coefficients = [0.0; N];
    for i in (0..N).rev() {
        for k in (1..N).rev() {
            coefficients[k] = coefficients[k - 1] - nodes[i] * coefficients[k];
        }
        coefficients[0] = differences[i] - nodes[i] * coefficients[0];
    }
    coefficients.map(|c| c as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error over many words, relative to the value. With an offset, it is relative to the value's distance
    /// from one.
    fn worst_error<const N: usize>(segments: &Segments<N>) -> f64 {
        let error = |i: u32| {
            let word = i.wrapping_mul(2_654_435_761) >> (i % 16 * u32::from(i.is_multiple_of(3)));
            let exact = libm::exp(gaussian(word, || 1 << 40) / segments.noise_multiplier);
            let ours = if word < FIRST_NEAR_WORD {
                segments.far_value(word, || 1 << 40)
            } else {
                let (index, local) = near_segment(word);
                segments.finish(
                    segments
                        .tables
                        .near
                        .iter()
                        .rev()
                        .fold(0.0_f32, |sum, table| sum.mul_add(local, table[index])),
                )
            };
            let scale = if segments.offset == 1.0 {
                (exact - 1.0).abs().max(0.3 / segments.noise_multiplier)
            } else {
                exact
            };
            (ours - exact).abs() / scale
        };
        (0..200_000).map(error).fold(0.0, f64::max)
    }

    #[test]
    fn every_segment_is_close_to_the_exact_exponential() {
        for s in [0.1, 0.15, 0.3, 0.5, 1.0, 1.9, 2.0, 25.0] {
            let segments = Segments::for_single_values(s);
            let error = worst_error(&segments);
            assert!(error < 4e-7 * f64::from(1_u32 << segments.squarings), "{s}: {error}");
        }
        for s in [0.1, 0.15, 0.3, 0.5, 1.0, 1.9] {
            let segments = Segments::for_sums(s, false);
            let error = worst_error(&segments);
            assert!(error < 1.6e-6 * f64::from(1_u32 << segments.squarings), "{s}: {error}");
        }
        for s in [2.0, 5.0, 25.0] {
            let error = worst_error(&Segments::for_sums(s, true));
            assert!(error < 2.5e-6, "{s}: {error}");
        }
    }
}
