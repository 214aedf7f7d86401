//! The Fourier transform that adds up many independent losses, and how far round-off may carry it.

use super::LossGrid;
use super::compose::UNIT_ROUND_OFF;
use super::powers::raise;
use libm::{exp, expm1};
use realfft::RealFftPlanner;
use std::cell::RefCell;

/// Error of one level of a transform in units of round-off.
const ERROR_PER_LEVEL: f64 = 22.0;

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
        let tails = TailSums::of(&tilted);
        let mut folded = vec![0.0; length];
        for (i, sum) in tails.sums.iter().enumerate() {
            folded[(i as i64 - tails.middle as i64).rem_euclid(length as i64) as usize] += sum;
        }
        let input_norm = norm(folded.iter().map(|sum| sum * sum));
        let forward = PLANNER.with_borrow_mut(|planner| planner.plan_fft_forward(length));
        let mut spectrum = forward.make_output_vec();
        forward.process(&mut folded, &mut spectrum).expect("lengths come from the plan");
        let powers = raise(&mut spectrum, length, tails.total, times);
        let inverse = PLANNER.with_borrow_mut(|planner| planner.plan_fft_inverse(length));
        // Rounding may leave an imaginary part where a real transform has none.
        spectrum[0].im = 0.0;
        if length.is_multiple_of(2) {
            spectrum[length / 2].im = 0.0;
        }
        inverse.process(&mut spectrum, &mut folded).expect("lengths come from the plan");
        let scale = 1.0 / length as f64;
        let moved = (self.first + tails.middle as i64) * times as i64;
        let tilted = (0..length as i64)
            .map(|i| folded[(first + i - moved).rem_euclid(length as i64) as usize] * scale)
            .collect();

        let transform_error = transform_error(length);
        let (n, root) = (times as f64, (length as f64).sqrt());
        let before = n * transform_error * input_norm;
        let after = transform_error * powers.norm / root + powers.error_norm / root;
        let error = RoundOff {
            largest: 1.1 * (before * powers.slope_norm / root + after),
            norm: 1.1 * (before * powers.largest_slope + after),
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

/// Relative 2-norm error of a transform: see the module's documentation.
fn transform_error(length: usize) -> f64 {
    ERROR_PER_LEVEL * UNIT_ROUND_OFF * (length as f64).log2()
}

fn norm(squares: impl Iterator<Item = f64>) -> f64 {
    squares.sum::<f64>().sqrt()
}

/// A law through the sums of its masses above (from the middle up) and, negated, at and below (below the middle) each
/// point. With indices from the middle on and `r = e^(-i angle)`,
///
/// ```text
/// sum_j mass_j r^j = total + (r - 1) sum_j sums_j r^j
/// ```
struct TailSums {
    /// The index of the median, where nearly all of a law may be that is seldom sampled.
    middle: usize,
    sums: Vec<f64>,
    total: f64,
}

impl TailSums {
    fn of(masses: &[f64]) -> Self {
        let mut from_below = RunningSum::default();
        let mut sums: Vec<f64> = masses.iter().map(|&mass| -from_below.add(mass)).collect();
        let total = from_below.value();
        let middle = sums.iter().position(|&sum| -sum >= 0.5 * total).unwrap_or(0);
        let mut from_above = RunningSum::default();
        for i in (middle..masses.len()).rev() {
            sums[i] = from_above.value();
            from_above.add(masses[i]);
        }
        TailSums { middle, sums, total }
    }
}

/// A sum with the rounding error of every addition kept apart (Knuth's exact addition).
#[derive(Default)]
struct RunningSum {
    sum: f64,
    lost: f64,
}

impl RunningSum {
    fn add(&mut self, term: f64) -> f64 {
        let next = self.sum + term;
        let added = next - self.sum;
        self.lost += (self.sum - (next - added)) + (term - added);
        self.sum = next;
        self.value()
    }

    fn value(&self) -> f64 {
        self.sum + self.lost
    }
}

/// The shortest even length of at least `least` that is a power of two, or three or five times one.
pub(super) fn fast_length(least: usize) -> usize {
    [1, 3, 5].map(|odd| odd * least.div_ceil(odd).next_power_of_two().max(2)).into_iter().min().unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use realfft::num_complex::Complex;

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
