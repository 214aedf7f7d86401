//! The law of a sum of independent terms on a grid. The rare part with a positive term is kept separate.

use realfft::num_complex::Complex64;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::sync::Arc;

/// The transform of a law, split in two: `calm`, in which every term is at most zero, and the rest.
///
/// If kept separate, the rest has a round-off relative to its own mass, which may be far below 1e-16. This matters
/// because it is later multiplied by e^level.
#[derive(Debug, Clone, Copy)]
pub struct SplitPoint {
    calm: Complex64,
    rest: Complex64,
}

impl SplitPoint {
    const ONE: Self = Self { calm: Complex64::new(1.0, 0.0), rest: Complex64::new(0.0, 0.0) };

    /// The transform of the sum of two independent sums: (c + r)(c' + r') - c c' = r (c' + r') + c r'.
    fn times(self, other: Self) -> Self {
        Self {
            calm: self.calm * other.calm,
            rest: self.rest * (other.calm + other.rest) + self.calm * other.rest,
        }
    }

    /// The transform of the sum of `count` independent copies, by repeated squaring.
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

/// A term's law: the mass `calm[k]` or `rest[k]` lies at `k` steps, modulo the grid's length.
#[derive(Debug, Clone)]
pub struct TermLaw {
    /// The masses of values at most zero.
    pub calm: Vec<f64>,
    /// The masses of values above zero.
    pub rest: Vec<f64>,
}

/// The law of a sum on the same cyclic grid.
#[derive(Debug, Clone)]
pub struct SumLaw {
    /// The whole law.
    pub all: Vec<f64>,
    /// The part with at least one term above zero.
    pub rest: Vec<f64>,
    /// A bound on the sum of the absolute round-off errors of `all`. For `rest` the bound is this times its own mass.
    /// It is assumed and not proven (`docs/proofs/exact-pair.md`, gaps 1 and 2).
    pub round_off: f64,
}

/// Fourier transforms of one length.
pub struct Transform {
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    length: usize,
}

impl Transform {
    /// The transforms of `length` points; the length must be even.
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

    /// For each kind of term, the law of the sum of all terms except one of that kind.
    pub fn sums_without_one(&self, terms: &[(&[SplitPoint], u64)]) -> Vec<SumLaw> {
        let bins = self.length / 2 + 1;
        let mut spectra = vec![(Vec::with_capacity(bins), Vec::with_capacity(bins), 0.0); terms.len()];
        let mut before = vec![SplitPoint::ONE; terms.len()];
        for bin in 0..bins {
            let mut product = SplitPoint::ONE;
            for (slot, (law, count)) in before.iter_mut().zip(terms) {
                let one_less = law[bin].power(count - 1);
                *slot = product.times(one_less);
                product = product.times(one_less.times(law[bin]));
            }
            let mut after = SplitPoint::ONE;
            for (i, (law, count)) in terms.iter().enumerate().rev() {
                let point = before[i].times(after);
                let whole = point.calm + point.rest;
                let (all, rest, energy) = &mut spectra[i];
                all.push(whole);
                rest.push(point.rest);
                *energy += 2.0 * whole.norm_sqr().max(point.calm.norm_sqr());
                if i > 0 {
                    after = after.times(law[bin].power(*count));
                }
            }
        }
        // The l1 error is at most sqrt(length) times the l2 error, which is the l2 error of the spectrum. Each bin's
        // relative error is assumed to grow by 4 epsilon = 8 u per transform level and per factor. Higham's worst case
        // for the transform alone is 22 u (`pld/transform.rs`).
        let count: u64 = terms.iter().map(|(_, count)| count).sum();
        let roundings = 4.0 * (2.0 + count as f64) * (self.length as f64).log2();
        let law = |(all, rest, energy): (Vec<Complex64>, Vec<Complex64>, f64)| SumLaw {
            all: self.back(all),
            rest: self.back(rest),
            round_off: roundings * f64::EPSILON * energy.sqrt(),
        };
        spectra.into_iter().map(law).collect()
    }

    fn back(&self, mut spectrum: Vec<Complex64>) -> Vec<f64> {
        let last = spectrum.len() - 1;
        spectrum[0].im = 0.0;
        spectrum[last].im = 0.0;
        let mut law = self.inverse.make_output_vec();
        self.inverse.process(&mut spectrum, &mut law).expect("the buffers have the planned lengths");
        let scale = 1.0 / self.length as f64;
        for mass in &mut law {
            *mass *= scale;
        }
        law
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two kinds of terms, compared with direct convolution.
    #[test]
    fn agrees_with_direct_convolution() {
        let length = 64;
        let law = |entries: &[(i64, f64)]| {
            let mut term = TermLaw { calm: vec![0.0; length], rest: vec![0.0; length] };
            for &(k, mass) in entries {
                let side = if k > 0 { &mut term.rest } else { &mut term.calm };
                side[k.rem_euclid(length as i64) as usize] += mass;
            }
            term
        };
        let kinds = [vec![(-2, 0.5), (-1, 0.3), (3, 0.2)], vec![(0, 0.6), (-3, 0.4 - 1e-30), (5, 1e-30)]];
        let transform = Transform::new(&mut RealFftPlanner::new(), length);
        let spectra = kinds.clone().map(|kind| transform.of_term(law(&kind)));
        let sums = transform.sums_without_one(&[(&spectra[0], 3), (&spectra[1], 2)]);
        for (without, counts) in [(0, [2, 2]), (1, [3, 1])] {
            let (mut all, mut calm) = (vec![0.0; length], vec![0.0; length]);
            all[0] = 1.0;
            calm[0] = 1.0;
            let convolve = |sum: &[f64], kind: &[(i64, f64)], most: i64| {
                let mut result = vec![0.0; length];
                for (i, mass) in sum.iter().enumerate() {
                    for &(k, share) in kind.iter().filter(|(k, _)| *k <= most) {
                        result[(i as i64 + k).rem_euclid(length as i64) as usize] += mass * share;
                    }
                }
                result
            };
            for (kind, count) in kinds.iter().zip(counts) {
                for _ in 0..count {
                    all = convolve(&all, kind, i64::MAX);
                    calm = convolve(&calm, kind, 0);
                }
            }
            let sum = &sums[without];
            let error: f64 = sum.all.iter().zip(&all).map(|(a, b)| (a - b).abs()).sum();
            assert!(error <= sum.round_off && sum.round_off < 1e-11, "{error} {}", sum.round_off);
            for k in 0..length {
                assert!((sum.rest[k] - (all[k] - calm[k])).abs() < 1e-15, "{k}");
            }
        }
    }

    /// The rare part keeps its relative accuracy even if it is far below the unit round-off.
    #[test]
    fn the_rest_is_accurate_relative_to_itself() {
        let length = 32;
        let mut term = TermLaw { calm: vec![0.0; length], rest: vec![0.0; length] };
        term.calm[0] = 1.0 - 1e-40;
        term.rest[2] = 1e-40;
        let transform = Transform::new(&mut RealFftPlanner::new(), length);
        let spectrum = transform.of_term(term);
        let sum = &transform.sums_without_one(&[(&spectrum, 1001)])[0];
        assert!((sum.rest[2] / 1e-37 - 1.0).abs() < 1e-12);
        assert!(sum.rest[4].abs() < 1e-50 && (sum.all[0] - 1.0).abs() < 1e-12);
    }
}
