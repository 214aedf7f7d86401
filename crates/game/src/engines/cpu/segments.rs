//! From 32 random bits straight to exp(z / s): piecewise polynomials in place of quantile and exponential.
//!
//! A random word is a sign and a magnitude m, and its Gaussian number z is the quantile at probability
//! (m + 1/2) / 2^32 on that side ([`misdeal_core::gaussian`]). Written as a float, the word has an exponent (its
//! octave) and a mantissa. Each half octave of each side is a *segment*, on which exp(z / r) is a polynomial of degree
//! five in the mantissa. A segment's index is four bits of the float and the sign, so that the coefficients of the
//! sixteen half octaves nearest the centre (the *near* segments: all but one draw in 256) fit the registers of one
//! table look-up on AVX-512. The next eight octaves are *far* segments, looked up in memory, and what is left (a draw
//! in 65,536) is computed exactly in f64.
//!
//! The fit is good to 6e-7 relative for r >= 1; a smaller noise multiplier s takes r = 2^k s and squares k times.

use misdeal_core::{FIRST_BODY_MAGNITUDE, gaussian, normal, sign_and_magnitude};

/// Degree of the polynomials.
pub const DEGREE: usize = 5;
/// Segments in a table: two sides, eight octaves, two halves.
pub const SEGMENTS: usize = 32;
/// Words from here on fall into near segments.
pub const FIRST_NEAR_WORD: u32 = 1 << 24;
/// Bits of a float's mantissa below the one that tells the halves of an octave apart.
pub const LOCAL_BITS: u32 = 0x003f_ffff;
/// The middle of a segment: with the bits above it, they make a float in [1, 3/2).
pub const LOCAL_CENTRE: f32 = 1.25;

/// exp(z / s) - offset as polynomials, for one noise multiplier.
#[derive(Debug, Clone)]
pub struct Segments {
    /// `near[k][i]`: coefficient of degree k on near segment i.
    pub near: [[f32; SEGMENTS]; DEGREE + 1],
    /// `far[i][k]`: coefficient of degree k on far segment i.
    far: [[f32; DEGREE + 1]; SEGMENTS],
    /// 0 or 1: what was subtracted before the fit, so that sums of values near one keep their digits.
    pub offset: f32,
    /// How often a value must be squared.
    pub squarings: u32,
    noise_multiplier: f64,
}

impl Segments {
    /// Fits every segment. With `offset` the values are exp(z / s) - 1, for s of 2 and more; else exp(z / s).
    pub fn fit(noise_multiplier: f64, offset: bool) -> Self {
        let squarings = squarings(noise_multiplier);
        debug_assert!(!offset || squarings == 0);
        let root = noise_multiplier * f64::from(1_u32 << squarings);
        let value = |sign: bool, magnitude: f64| {
            let z = normal::lower_quantile((magnitude + 0.5) * 2.0_f64.powi(-32));
            let exponent = if sign { -z } else { z } / root;
            if offset { libm::expm1(exponent) } else { libm::exp(exponent) }
        };
        let mut near = [[0.0; SEGMENTS]; DEGREE + 1];
        let mut far = [[0.0; DEGREE + 1]; SEGMENTS];
        for sign in [false, true] {
            for half_octave in 0..16_u32 {
                let start = 1.0 + 0.5 * f64::from(half_octave % 2);
                let scale = f64::from(FIRST_NEAR_WORD << (half_octave / 2));
                // A word 32 k + 16 sign + j has magnitude 16 k + j, on average over j this much from half the word.
                let excess = if sign { -4.25 } else { 3.75 };
                let coefficients = interpolate(start, |local| value(sign, 0.5 * scale * local + excess));
                let index = near_segment((scale * start) as u32 | if sign { 0x10 } else { 0 }).0;
                for (table, coefficient) in near.iter_mut().zip(coefficients) {
                    table[index] = coefficient;
                }
                let scale = f64::from(FIRST_BODY_MAGNITUDE << (half_octave / 2));
                far[far_segment(sign, (scale * start) as u32).0] =
                    interpolate(start, |local| value(sign, scale * local));
            }
        }
        Segments { near, far, offset: f32::from(offset), squarings, noise_multiplier }
    }

    /// exp(z / s) of a word below [`FIRST_NEAR_WORD`].
    pub fn far_value(&self, word: u32, more: impl FnOnce() -> u64) -> f64 {
        let (sign, magnitude) = sign_and_magnitude(word);
        if magnitude < FIRST_BODY_MAGNITUDE {
            return libm::exp(gaussian(word, more) / self.noise_multiplier);
        }
        let (index, local) = far_segment(sign, magnitude);
        let [low @ .., highest] = &self.far[index];
        let fitted = low.iter().rev().fold(*highest, |sum, &c| sum.mul_add(local, c));
        self.finish(fitted)
    }

    /// A fitted value, squared as often as the fit needs, with the offset restored.
    pub fn finish(&self, fitted: f32) -> f64 {
        (0..self.squarings).fold(f64::from(fitted) + f64::from(self.offset), |value, _| value * value)
    }
}

/// How often a value is squared: the fit needs r = 2^k s of at least one.
pub fn squarings(noise_multiplier: f64) -> u32 {
    (0..).find(|&k| noise_multiplier * f64::from(1_u32 << k) >= 1.0).unwrap_or(0)
}

/// A near word's segment and local coordinate in [-1/4, 1/4): the reference for what every instruction set computes.
pub fn near_segment(word: u32) -> (usize, f32) {
    // Truncated, because rounding to the nearest would lift the top words out of their octave.
    let excess_bits = 8 - word.leading_zeros().min(8);
    let bits = ((word >> excess_bits << excess_bits) as f32).to_bits();
    let index = bits >> 22 & 0xf | word & 0x10;
    (index as usize, f32::from_bits(bits & LOCAL_BITS | 0x3f80_0000) - LOCAL_CENTRE)
}

/// As [`near_segment`] for a magnitude below half of [`FIRST_NEAR_WORD`].
fn far_segment(sign: bool, magnitude: u32) -> (usize, f32) {
    let bits = (magnitude as f32).to_bits();
    let index = bits >> 22 & 0xf | u32::from(sign) << 4;
    (index as usize, f32::from_bits(bits & LOCAL_BITS | 0x3f80_0000) - LOCAL_CENTRE)
}

/// The polynomial through `value` at the Chebyshev points of [start, start + 1/2), in powers of the distance
/// from the middle.
///
/// Newton's divided differences, then expanded; in f64 the expansion loses nothing that f32 could show.
fn interpolate(start: f64, value: impl Fn(f64) -> f64) -> [f32; DEGREE + 1] {
    const POINTS: usize = DEGREE + 1;
    let angle = |i: usize| std::f64::consts::PI * (i as f64 + 0.5) / POINTS as f64;
    let nodes: [f64; POINTS] = std::array::from_fn(|i| 0.25 * libm::cos(angle(i)));
    let mut differences = nodes.map(|node| value(start + 0.25 + node));
    for order in 1..POINTS {
        for i in (order..POINTS).rev() {
            differences[i] = (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - order]);
        }
    }
    let mut coefficients = [0.0; POINTS];
    for i in (0..POINTS).rev() {
        for k in (1..POINTS).rev() {
            coefficients[k] = coefficients[k - 1] - nodes[i] * coefficients[k];
        }
        coefficients[0] = differences[i] - nodes[i] * coefficients[0];
    }
    coefficients.map(|c| c as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_segment_is_close_to_the_exact_exponential() {
        for (noise_multiplier, offset) in
            [(0.07, false), (0.15, false), (0.3, false), (0.5, false), (1.0, false), (1.9, false), (2.0, true), (25.0, true)]
        {
            let segments = Segments::fit(noise_multiplier, offset);
            for i in 0..200_000_u32 {
                let word = i.wrapping_mul(2_654_435_761) >> (i % 16 * u32::from(i % 3 == 0));
                let exact = libm::exp(gaussian(word, || 1 << 40) / noise_multiplier);
                let ours = if word < FIRST_NEAR_WORD {
                    segments.far_value(word, || 1 << 40)
                } else {
                    let (index, local) = near_segment(word);
                    let fitted = (0..=DEGREE).rev().fold(0.0_f32, |sum, k| sum.mul_add(local, segments.near[k][index]));
                    segments.finish(fitted)
                };
                let scale = if offset { (exact - 1.0).abs().max(0.3 / noise_multiplier) } else { exact };
                let limit = 1.3e-6 * f64::from(1_u32 << segments.squarings);
                assert!((ours - exact).abs() < limit * scale, "noise {noise_multiplier}, word {word:#x}: {ours} for {exact}");
            }
        }
    }
}
