//! The Fourier transform that adds up many independent losses, and how far round-off may carry it.

use super::LossGrid;
use super::compose::UNIT_ROUND_OFF;
use libm::{atan2, exp, expm1, log, log1p};
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
        let mut masses_elsewhere = tilted;
        masses_elsewhere[top] = 0.0;
        for (i, mass) in masses_elsewhere.iter().enumerate() {
            folded[(i as i64 - top as i64).rem_euclid(length as i64) as usize] += mass;
        }
        let input_norm = norm(folded.iter().map(|mass| mass * mass));
        let forward = PLANNER.with_borrow_mut(|planner| planner.plan_fft_forward(length));
        let mut spectrum = forward.make_output_vec();
        forward.process(&mut folded, &mut spectrum).expect("lengths come from the plan");
        let rest = exact_sum(&masses_elsewhere);
        let powers = if largest > 0.5 && times > 1000 {
            raise_by_logarithms(&mut spectrum, largest, rest, times)
        } else {
            raise_by_squaring(&mut spectrum, largest, times)
        };
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
        let after = transform_error * powers.norm / root + powers.error_norm / root;
        let error = RoundOff {
            largest: 1.1 * (n * transform_error * input_norm * powers.one_less_norm / root + after),
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

/// What raising a spectrum to a power says about it: the 2-norms, over all frequencies, of the power, of the power one
/// less, and of the error made in raising.
struct Powers {
    norm: f64,
    one_less_norm: f64,
    error_norm: f64,
}

impl Powers {
    /// From sums of squares over the stored half of the spectrum; the other half is its conjugate.
    fn from_squares(norm: f64, one_less_norm: f64, error_norm: f64) -> Self {
        let root = |square: f64| (2.0 * square).sqrt();
        Powers { norm: root(norm), one_less_norm: root(one_less_norm), error_norm: root(error_norm) }
    }
}

/// Each `z + largest` to the power `times`.
fn raise_by_squaring(spectrum: &mut [Complex<f64>], largest: f64, times: u64) -> Powers {
    let (mut squares, mut one_less_squares) = (0.0, 0.0);
    for z in spectrum {
        *z += largest;
        let one_less = power(*z, times - 1);
        *z *= one_less;
        one_less_squares += one_less.norm_sqr();
        squares += z.norm_sqr();
    }
    let relative = 4.0 * times as f64 * UNIT_ROUND_OFF;
    Powers::from_squares(squares, one_less_squares, relative * relative * squares)
}

/// The same for a law that is mostly one mass, where `z + largest` is close to one: through
/// `times * ln(1 + (z - rest) / (largest + rest))`, with `rest` the exact sum of the other masses, so that the error
/// of adding `largest` does not come back `times` times. Slower, and needs `largest > 1/2`.
fn raise_by_logarithms(spectrum: &mut [Complex<f64>], largest: f64, rest: f64, times: u64) -> Powers {
    let (n, total) = (times as f64, largest + rest);
    let scale = n * log(total);
    let (mut squares, mut one_less_squares, mut error_squares) = (0.0, 0.0, 0.0);
    for z in spectrum {
        let step = (*z - rest) / total;
        let log_size = 0.5 * n * log1p(2.0 * step.re + step.norm_sqr());
        let angle = n * atan2(step.im, 1.0 + step.re);
        let square_before = (1.0 + step).norm_sqr();
        *z = Complex::from_polar(exp(scale + log_size), angle);
        let square = z.norm_sqr();
        let relative = UNIT_ROUND_OFF * (4.0 * (1.0 + log_size.abs() + angle.abs()) + 2.0 * n * rest);
        squares += square;
        one_less_squares += square / square_before;
        error_squares += square * relative * relative;
    }
    Powers::from_squares(squares, one_less_squares, error_squares)
}

/// A sum with Neumaier's compensation.
fn exact_sum(terms: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for &term in terms {
        let next = sum + term;
        lost += if sum.abs() > term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + lost
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
