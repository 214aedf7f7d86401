//! The Fourier transform that sums many independent losses, with a bound on its round-off.
//!
//! A transform of length N in radix-2 levels has a relative 2-norm error of at most `eta log2 N`, to first order. Here
//! `eta = m + 4 u (sqrt 2 + m)`, m is the error of its roots of unity and u is the unit round-off (Higham 2002, theorem
//! 24.2). rustfft computes a root from the floating-point angle `2 pi / N * k`. The angle is below 2 pi and its
//! relative error is at most 2.35 u (0.35 for pi, one for the division, one for the product). So m <= 14.8 u, plus 1.4
//! u for sine and cosine. So eta <= 21.9 u.
//!
//! Three things are assumed and not proven. First, a pass of a larger radix is not worse than the radix-2 levels that
//! it replaces. It multiplies by fewer roots; a pass of radix 3 or 5 counts as log2 3 or log2 5 levels. Second, the
//! pass that turns a complex transform into a real one is not worse than a level. Third, the system's sine and cosine
//! are accurate to one unit in the last place. A test finds the error to be more than ten times smaller.

use super::LossGrid;
use super::compose::UNIT_ROUND_OFF;
use super::powers::raise;
use libm::{exp, expm1};
use realfft::RealFftPlanner;
use std::cell::RefCell;

/// The error of one radix-2 level of a transform, in units of round-off.
const ERROR_PER_LEVEL: f64 = 22.0;

thread_local! {
    /// Fourier plans by length. Making a plan costs as much as several transforms.
    static PLANNER: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
}

/// Longer transforms are planned again each time, because a kept plan takes 12 bytes per point.
const LONGEST_KEPT: usize = 1 << 20;

/// A plan from the thread's planner, or for long transforms from one that keeps nothing.
fn planned<P>(length: usize, plan: impl Fn(&mut RealFftPlanner<f64>) -> P) -> P {
    if length > LONGEST_KEPT { plan(&mut RealFftPlanner::new()) } else { PLANNER.with_borrow_mut(plan) }
}

impl LossGrid {
    /// The tilted law of the sum on `length` cyclic points from `first` on, and a bound on its error.
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
        power(&tilted, self.first, times, first, length)
    }
}

/// The law of the sum of `times` independent terms on `length` cyclic points from `first` on, and a bound on its error.
///
/// A term's masses lie at `from`, `from + 1`, ...
pub(crate) fn power(
    masses: &[f64],
    from: i64,
    times: u64,
    first: i64,
    length: usize,
) -> (Vec<f64>, RoundOff) {
    let tails = TailSums::of(masses);
    let mut folded = vec![0.0; length];
    for (i, sum) in tails.sums.iter().enumerate() {
        folded[(i as i64 - tails.middle as i64).rem_euclid(length as i64) as usize] += sum;
    }
    let input_norm = norm(folded.iter().map(|sum| sum * sum));
    let forward = planned(length, |planner| planner.plan_fft_forward(length));
    let mut spectrum = forward.make_output_vec();
    forward.process(&mut folded, &mut spectrum).expect("lengths come from the plan");
    drop(forward);
    let powers = raise(&mut spectrum, length, tails.total, times);
    let inverse = planned(length, |planner| planner.plan_fft_inverse(length));
    // Rounding may leave an imaginary part where a real transform has zero.
    spectrum[0].im = 0.0;
    if length.is_multiple_of(2) {
        spectrum[length / 2].im = 0.0;
    }
    inverse.process(&mut spectrum, &mut folded).expect("lengths come from the plan");
    drop((inverse, spectrum));
    let moved = (from + tails.middle as i64) * times as i64;
    folded.rotate_left((first - moved).rem_euclid(length as i64) as usize);
    let scale = 1.0 / length as f64;
    for mass in &mut folded {
        *mass *= scale;
    }

    let transform_error = transform_error(length);
    let (n, root) = (times as f64, (length as f64).sqrt());
    let before = n * transform_error * input_norm;
    let after = transform_error * powers.norm / root + powers.error_norm / root;
    let error = RoundOff {
        largest: 1.1 * (before * powers.slope_norm / root + after),
        norm: 1.1 * (before * powers.largest_slope + after),
    };
    (folded, error)
}

/// Bounds on the error of the tilted masses: of each mass, and of all masses as a vector.
pub(crate) struct RoundOff {
    largest: f64,
    norm: f64,
}

impl RoundOff {
    /// The effect on the sum of `w = e^(-tilt x) (1 - e^-x)`, or of `w = e^(-tilt x)`, over the window's points x >= 0.
    ///
    /// It is the smaller of two bounds: the sum of w times the largest error, and the norm of w times the norm of the
    /// error.
    pub(super) fn on_delta(&self, tilt: f64, step: f64, length: usize) -> f64 {
        let sum = |tilt: f64| (-1.0 / expm1(-tilt * step)).min(length as f64);
        self.on_sum(sum(tilt), sum(2.0 * tilt).sqrt())
    }

    /// The effect on a sum of masses times weights, from the weights' sum and 2-norm.
    pub(crate) fn on_sum(&self, weights: f64, norm_of_weights: f64) -> f64 {
        (weights * self.largest).min(norm_of_weights * self.norm)
    }
}

/// The relative 2-norm error of a transform.
fn transform_error(length: usize) -> f64 {
    ERROR_PER_LEVEL * UNIT_ROUND_OFF * (length as f64).log2()
}

fn norm(squares: impl Iterator<Item = f64>) -> f64 {
    squares.sum::<f64>().sqrt()
}

/// A law, represented by sums of its masses.
///
/// From the middle up these are the sums above each point. Below the middle they are the negated sums at and below each
/// point. With indices from the middle on and `r = e^(-i angle)`,
///
/// ```text
/// sum_j mass_j r^j = total + (r - 1) sum_j sums_j r^j
/// ```
struct TailSums {
    /// The index of the median. If the record is rarely sampled, nearly all of the law lies there.
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

/// A sum that keeps the rounding error of every addition separately (Knuth's exact addition).
#[derive(Default)]
pub(super) struct RunningSum {
    sum: f64,
    lost: f64,
}

impl RunningSum {
    pub(super) fn add(&mut self, term: f64) -> f64 {
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

/// The shortest even length of at least `least` that is 1, 3 or 5 times a power of two.
pub(crate) fn fast_length(least: usize) -> usize {
    [1, 3, 5].map(|odd| odd * least.div_ceil(odd).next_power_of_two().max(2)).into_iter().min().unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pld::Side;
    use realfft::num_complex::Complex;

    /// Compares the forward transform of a law with sums of products. These have exact angles and are compensated by
    /// Neumaier's method.
    #[test]
    fn transforms_are_ten_times_more_accurate_than_assumed() {
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
            // The 2-norm bound allows this much per frequency on average.
            let error = (squares / 64.0).sqrt() / norm;
            assert!(error < 0.1 * transform_error(length), "{length}: {error} {}", transform_error(length));
        }
    }
    /// Coin flips sum to a binomial law, by squaring and through logarithms.
    #[test]
    fn powers_err_by_less_than_they_say() {
        for (times, probability) in [(1000, 0.25), (1001, 0.25), (100_000, 0.25), (1_000_000, 1.0 / 4096.0)] {
            let (n, p) = (times as f64, probability);
            let spread = 8.0 * (n * p * (1.0 - p)).sqrt() + 20.0;
            let (first, last) = ((n * p - spread).max(0.0) as i64, (n * p + spread) as i64);
            // Computed from the ratio of neighbours, then normalised: exact to about 1e-13.
            let middle = (n * p) as i64;
            let ratio = |k: i64| (n - k as f64) / (k + 1) as f64 * p / (1.0 - p);
            let mut exact = vec![1.0; (last - first + 1) as usize];
            for k in middle..last {
                exact[(k + 1 - first) as usize] = exact[(k - first) as usize] * ratio(k);
            }
            for k in (first..middle).rev() {
                exact[(k - first) as usize] = exact[(k + 1 - first) as usize] / ratio(k);
            }
            let total: f64 = exact.iter().sum();
            let length = fast_length(exact.len());
            let (masses, step) = (vec![1.0 - p, p], 0.1);
            let coin =
                LossGrid { side: Side::Upper, step, origin: 0.0, first: 0, masses, infinity_mass: 0.0 };
            let (law, error) = coin.tilted_power(times, 0.0, 0.0, first, length);
            let errors: Vec<f64> = law.iter().zip(&exact).map(|(ours, k)| ours - k / total).collect();
            let largest = errors.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
            assert!(largest < error.largest + 1e-14, "{times} {probability}: {largest} {}", error.largest);
            let distance = norm(errors.iter().map(|error| error * error));
            assert!(distance < error.norm + 1e-14, "{times} {probability}: {distance} {}", error.norm);
            assert!(error.norm < 1e-11, "{times} {probability}: {}", error.norm);
        }
    }
}
