//! The law of a sum of independent terms on a grid, with the rare part that can be positive kept apart.

use realfft::num_complex::Complex64;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::sync::Arc;

/// The transform of a law, split into the part in which every term is at most zero (`calm`) and the rest.
///
/// Kept apart, the rest has a round-off relative to its own mass, which may be far below 1e-16, instead of relative
/// to one: it is later multiplied by e^level.
#[derive(Debug, Clone, Copy)]
pub struct SplitPoint {
    calm: Complex64,
    rest: Complex64,
}

impl SplitPoint {
    const ONE: Self = Self { calm: Complex64::new(1.0, 0.0), rest: Complex64::new(0.0, 0.0) };

    /// The sum of two independent sums: (c + r)(c' + r') - c c' = r (c' + r') + c r'.
    fn times(self, other: Self) -> Self {
        Self {
            calm: self.calm * other.calm,
            rest: self.rest * (other.calm + other.rest) + self.calm * other.rest,
        }
    }

    /// The sum of `count` independent copies, by repeated squaring.
    fn power(self, mut count: u64) -> Self {
        let (mut result, mut square) = (Self::ONE, self);
        while count > 0 {
            if count & 1 == 1 {
                result = result.times(square);
            }
            square = square.times(square);
            count >>= 1;
        }
        result
    }
}

/// A term's law: mass `calm[k]` or `rest[k]` at `k` steps modulo the grid's length.
#[derive(Debug, Clone)]
pub struct TermLaw {
    /// Masses of values at most zero.
    pub calm: Vec<f64>,
    /// Masses of values above zero.
    pub rest: Vec<f64>,
}

/// A sum's law on the same cyclic grid.
#[derive(Debug, Clone)]
pub struct SumLaw {
    /// The whole law.
    pub all: Vec<f64>,
    /// The part with at least one term above zero.
    pub rest: Vec<f64>,
    /// A bound on the sum of the absolute round-off errors of `all`; `rest` has this times its own mass.
    pub round_off: f64,
}

/// Fourier transforms of one length.
pub struct Transform {
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    length: usize,
}

impl Transform {
    /// Transforms of `length` points, which must be even.
    pub fn new(planner: &mut RealFftPlanner<f64>, length: usize) -> Self {
        Self { forward: planner.plan_fft_forward(length), inverse: planner.plan_fft_inverse(length), length }
    }

    /// The spectrum of one term.
    pub fn of_term(&self, mut term: TermLaw) -> Vec<SplitPoint> {
        let run = |values: &mut [f64]| {
            let mut spectrum = self.forward.make_output_vec();
            self.forward.process(values, &mut spectrum).expect("the buffers have the planned lengths");
            spectrum
        };
        let (calm, rest) = (run(&mut term.calm), run(&mut term.rest));
        calm.into_iter().zip(rest).map(|(calm, rest)| SplitPoint { calm, rest }).collect()
    }

    /// The law of a sum with `count` terms of each given spectrum.
    pub fn sum(&self, terms: &[(&[SplitPoint], u64)]) -> SumLaw {
        let bins = self.length / 2 + 1;
        let mut all = Vec::with_capacity(bins);
        let mut rest = Vec::with_capacity(bins);
        let mut energy = 0.0;
        for bin in 0..bins {
            let point =
                terms.iter().fold(SplitPoint::ONE, |sum, (law, count)| sum.times(law[bin].power(*count)));
            let whole = point.calm + point.rest;
            energy += 2.0 * whole.norm_sqr().max(point.calm.norm_sqr());
            all.push(whole);
            rest.push(point.rest);
        }
        let count: u64 = terms.iter().map(|(_, count)| count).sum();
        // l1 error <= sqrt(length) * l2 error = l2 error of the spectrum; each bin's relative error grows by a few
        // roundings per transform level and per factor.
        let roundings = 4.0 * (2.0 + count as f64) * (self.length as f64).log2();
        let round_off = roundings * f64::EPSILON * energy.sqrt();
        SumLaw { all: self.back(all), rest: self.back(rest), round_off }
    }

    fn back(&self, mut spectrum: Vec<Complex64>) -> Vec<f64> {
        let last = spectrum.len() - 1;
        spectrum[0].im = 0.0;
        spectrum[last].im = 0.0;
        let mut law = self.inverse.make_output_vec();
        self.inverse.process(&mut spectrum, &mut law).expect("the buffers have the planned lengths");
        let scale = 1.0 / self.length as f64;
        law.iter_mut().for_each(|mass| *mass *= scale);
        law
    }
}
