//! The Fourier transform that adds up many independent losses, and how far round-off may carry it.

use super::LossGrid;
use super::compose::UNIT_ROUND_OFF;
use libm::{exp, expm1};
use realfft::RealFftPlanner;
use realfft::num_complex::Complex;
use std::cell::RefCell;

thread_local! {
    /// Plans by length: making one costs several transforms.
    static PLANNER: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
}

impl LossGrid {
    /// The tilted law of the sum on `length` points from `first` on, cyclically, and how far it may be off.
    pub(super) fn tilted_power(
        &self,
        times: u64,
        tilt: f64,
        log_moment: f64,
        first: i64,
        length: usize,
    ) -> (Vec<f64>, RoundOff) {
        let tilted: Vec<f64> = self
            .masses
            .iter()
            .enumerate()
            .map(|(i, mass)| mass * exp(tilt * self.loss(i) - log_moment))
            .collect();
        // The largest mass goes to index 0, where its transform is constant and free of error; often it is most of
        // the law.
        let top = (0..tilted.len()).max_by(|&i, &j| tilted[i].total_cmp(&tilted[j])).unwrap_or(0);
        let largest = tilted[top];
        let mut folded = vec![0.0; length];
        for (i, mass) in tilted.into_iter().enumerate().filter(|&(i, _)| i != top) {
            folded[(i as i64 - top as i64).rem_euclid(length as i64) as usize] += mass;
        }
        let input_norm = norm(folded.iter().map(|mass| mass * mass));
        let forward = PLANNER.with_borrow_mut(|planner| planner.plan_fft_forward(length));
        let mut spectrum = forward.make_output_vec();
        forward.process(&mut folded, &mut spectrum).expect("lengths come from the plan");
        let (mut one_less_norm, mut power_norm) = (0.0, 0.0);
        for z in &mut spectrum {
            *z += largest;
            let one_less = power(*z, times - 1);
            *z *= one_less;
            one_less_norm += one_less.norm_sqr();
            power_norm += z.norm_sqr();
        }
        // Only half of the spectrum is stored; the other half is its conjugate.
        let (one_less_norm, power_norm) = ((2.0 * one_less_norm).sqrt(), (2.0 * power_norm).sqrt());
        let inverse = PLANNER.with_borrow_mut(|planner| planner.plan_fft_inverse(length));
        // Rounding may leave an imaginary part where a real transform has none.
        spectrum[0].im = 0.0;
        if length.is_multiple_of(2) {
            spectrum[length / 2].im = 0.0;
        }
        inverse.process(&mut spectrum, &mut folded).expect("lengths come from the plan");
        let scale = 1.0 / length as f64;
        let moved = (self.first + top as i64) * times as i64;
        let tilted = (0..length as i64)
            .map(|i| folded[(first + i - moved).rem_euclid(length as i64) as usize] * scale)
            .collect();

        let transform_error = transform_error(length);
        let (n, root) = (times as f64, (length as f64).sqrt());
        let after = (transform_error + 4.0 * n * UNIT_ROUND_OFF) * power_norm / root;
        let error = RoundOff {
            largest: 1.1 * (n * transform_error * input_norm * one_less_norm / root + after),
            norm: 1.1 * (n * transform_error * input_norm + after),
        };
        (tilted, error)
    }
}

/// How far the tilted masses may be off: each of them, and all of them as a vector.
pub(super) struct RoundOff {
    largest: f64,
    norm: f64,
}

impl RoundOff {
    /// The effect on the sum of `w = e^(-tilt x) (1 - e^-x)`, or of `w = e^(-tilt x)`, over the points x >= 0 of the
    /// window: the sum of w times the largest error, or the norm of w times the norm of the error.
    pub(super) fn on_delta(&self, tilt: f64, step: f64, length: usize) -> f64 {
        let sum = |tilt: f64| (-1.0 / expm1(-tilt * step)).min(length as f64);
        (sum(tilt) * self.largest).min(sum(2.0 * tilt).sqrt() * self.norm)
    }
}

/// Relative 2-norm error of a transform.
fn transform_error(length: usize) -> f64 {
    UNIT_ROUND_OFF * (length as f64).log2()
}

fn norm(squares: impl Iterator<Item = f64>) -> f64 {
    squares.sum::<f64>().sqrt()
}

/// `z^exponent` by repeated squaring, with a relative error of at most `3 * exponent` units of round-off.
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

/// The shortest even length of at least `least` that is a power of two, or three or five times one.
pub(super) fn fast_length(least: usize) -> usize {
    [1, 3, 5].map(|odd| odd * least.div_ceil(odd).next_power_of_two().max(2)).into_iter().min().unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forward transform of a law, against sums of products with exact angles, compensated by Neumaier's method.
    #[test]
    fn transforms_are_several_times_more_accurate_than_assumed() {
        for length in [1 << 10, 3 << 10, 5 << 11, 1 << 15] {
            let mut law: Vec<f64> = (0..length)
                .map(|i| exp(-0.5 * ((i as f64 - 40.3) / 9.0).powi(2)) + 1e-4 / (1 + i) as f64)
                .collect();
            let norm = norm(law.iter().map(|mass| mass * mass));
            let exact = |frequency: usize| {
                let mut sums = [[0.0_f64; 2]; 2];
                for (i, mass) in law.iter().enumerate() {
                    let angle =
                        -2.0 * std::f64::consts::PI * ((i * frequency) % length) as f64 / length as f64;
                    for (part, factor) in [libm::cos(angle), libm::sin(angle)].into_iter().enumerate() {
                        let term = mass * factor;
                        let [sum, lost] = sums[part];
                        let next = sum + term;
                        let error =
                            if sum.abs() > term.abs() { (sum - next) + term } else { (term - next) + sum };
                        sums[part] = [next, lost + error];
                    }
                }
                Complex::new(sums[0][0] + sums[0][1], sums[1][0] + sums[1][1])
            };
            let frequencies: Vec<usize> = (0..64).map(|i| (i * i * 7) % (length / 2)).collect();
            let exact: Vec<_> = frequencies.iter().map(|&frequency| exact(frequency)).collect();
            let forward = RealFftPlanner::new().plan_fft_forward(length);
            let mut spectrum = forward.make_output_vec();
            forward.process(&mut law, &mut spectrum).unwrap();
            let squares: f64 =
                frequencies.iter().zip(&exact).map(|(&k, z)| (spectrum[k] - z).norm_sqr()).sum();
            // Per frequency, the 2-norm bound allows this much in the mean.
            let error = (squares / 64.0).sqrt() / norm;
            assert!(error < 0.5 * transform_error(length), "{length}: {error} {}", transform_error(length));
        }
    }
}
