//! Many steps: the law of a sum of independent losses, by a fast Fourier transform of the tilted law.
//!
//! The masses are tilted by e^(t L), so far that the losses that decide the answer are no longer rare in the tilted
//! sum. The transform's round-off, about 1e-15 of the bulk, is then small against what is read off, however small
//! delta is. A light tilt comes first, since it needs the smallest window (which holds nearly all of the tilted sum, by
//! Chernoff bounds); where round-off would show, the sum is tilted until its mean is the answer.
//!
//! What is left is put on the safe side:
//! - mass above the window: counted as infinite (upper) or dropped (lower);
//! - mass from outside that wraps into the window: left there (upper) or its largest effect subtracted (lower);
//! - round-off: its largest effect added (subtracted). A transform of length N has a relative 2-norm error of the
//!   order of u sqrt(log2 N), at worst 8 u log2 N (Higham 2002, theorem 24.2); u log2 N is taken, several times what a
//!   test below measures, and a power multiplies it by the number of steps;
//! - relative errors of the masses: a factor `1 ± steps * 2e-13`.

use super::{LossGrid, Side};
use libm::{ceil, exp, expm1, floor, log, log1p};
use realfft::RealFftPlanner;
use realfft::num_complex::Complex;
use std::cell::RefCell;

/// What the composition will be asked for; values far from the aim are valid but not sharp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// The epsilon at this delta.
    Delta(f64),
    /// The delta at this epsilon.
    Epsilon(f64),
    /// The whole law, with an absolute accuracy of about 1e-14.
    Whole,
}

/// The law of the sum of many losses, tilted: read it by `delta`, `epsilon` or [`Composition::untilted`].
#[derive(Debug, Clone)]
pub struct Composition {
    pub(super) side: Side,
    pub(super) step: f64,
    pub(super) origin: f64,
    pub(super) first: i64,
    /// `P(sum = x) = tilted * e^(log_scale - tilt x)`, up to the errors above, which are already on the safe side.
    pub(super) tilted: Vec<f64>,
    pub(super) tilt: f64,
    pub(super) log_scale: f64,
    pub(super) infinity_mass: f64,
    /// Tilted mass that may have wrapped into the window.
    pub(super) stray_mass: f64,
    /// How far any scaled delta, or probability of exceeding a point, may be off through round-off.
    pub(super) round_off: f64,
    /// The window's bottom hides no mass: the law is known below it too (it is empty there).
    pub(super) complete_below: bool,
}

/// Tilted mass that may lie outside the window on either side, as a share of what is read off.
const STRAY_SHARE: f64 = 1e-7;
/// Probability of what is read off under a light tilt, per step.
const ROUND_OFF_PER_STEP: f64 = 3e-9;
/// Uncertainty of delta, relatively, above which the sum is tilted further.
const MOST_BLUR: f64 = 1e-3;
/// Tilted mass that may lie outside the window for [`Aim::Whole`], where it is absolute.
const STRAY_MASS_WHOLE: f64 = 1e-15;
const UNIT_ROUND_OFF: f64 = f64::EPSILON / 2.0;
/// Relative accuracy of the masses (1e-13) and of tilting them.
const MASS_ERROR: f64 = 2e-13;

thread_local! {
    /// Plans by length: making one costs several transforms.
    static PLANNER: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
}

impl LossGrid {
    /// The law of the sum of `times` independent losses, erring to the same side.
    ///
    /// # Panics
    /// If `times` is zero or all masses are zero.
    pub fn compose(&self, times: u64, aim: Aim) -> Composition {
        assert!(times > 0, "a composition has at least one step");
        let infinity_mass = -expm1(times as f64 * log1p(-self.infinity_mass));
        if times == 1 {
            return Composition {
                side: self.side,
                step: self.step,
                origin: self.origin,
                first: self.first,
                tilted: self.masses.clone(),
                tilt: 0.0,
                log_scale: 0.0,
                infinity_mass,
                stray_mass: 0.0,
                round_off: 0.0,
                complete_below: true,
            };
        }
        let n = times as f64;
        match aim {
            Aim::Whole => self.compose_tilted(times, 0.0, STRAY_MASS_WHOLE),
            Aim::Epsilon(epsilon) => {
                self.compose_tilted(times, self.tilt_for_mean(n, epsilon), STRAY_SHARE * 1e-3)
            }
            Aim::Delta(delta) => {
                // Round-off grows with the number of steps, so the answer may be less rare under the tilted law.
                let rarity = (ROUND_OFF_PER_STEP * n).min(0.1);
                let tilt =
                    if delta < rarity { self.tilt_for_probability(n, log(delta / rarity)) } else { 0.0 };
                let light = self.compose_tilted(times, tilt, STRAY_SHARE * rarity.min(delta));
                let epsilon = light.epsilon(delta);
                if light.blur(epsilon, delta) <= MOST_BLUR {
                    return light;
                }
                let tilt = if epsilon.is_finite() {
                    self.tilt_for_mean(n, epsilon)
                } else {
                    self.tilt_for_probability(n, log(delta))
                };
                self.compose_tilted(times, tilt, STRAY_SHARE * 1e-3)
            }
        }
    }

    /// The sum under a tilt, in a window that leaves out at most `stray_mass` of it on either side.
    fn compose_tilted(&self, times: u64, tilt: f64, stray_mass: f64) -> Composition {
        let n = times as f64;
        let infinity_mass = -expm1(n * log1p(-self.infinity_mass));
        let bottom = self.end_of_support(n, tilt, -1.0, log(stray_mass));
        let top = self.end_of_support(n, tilt, 1.0, log(stray_mass));
        let origin = n * self.origin;
        let first = floor((bottom - origin) / self.step) as i64 - 1;
        let length = fast_length((ceil((top - origin) / self.step) as i64 + 2 - first).max(2) as usize);
        let log_moment = self.moment(tilt).log_value;
        let (mut tilted, error) = self.tilted_power(times, tilt, log_moment, first, length);
        let log_scale = n * log_moment;
        // The moment's own round-off, and that of every tilted mass, come back times the number of steps.
        let relative = n * (MASS_ERROR + 4.0 * UNIT_ROUND_OFF * log_moment.abs());
        let beyond =
            exp(log_scale - tilt * (origin + (first + length as i64) as f64 * self.step)) * stray_mass;
        let infinity_mass = match self.side {
            Side::Upper => {
                for mass in &mut tilted {
                    *mass = mass.max(0.0) * (1.0 + relative);
                }
                infinity_mass + beyond
            }
            Side::Lower => {
                for mass in &mut tilted {
                    *mass = mass.max(0.0) * (1.0 - relative).max(0.0);
                }
                infinity_mass
            }
        };
        Composition {
            side: self.side,
            step: self.step,
            origin,
            first,
            tilted,
            tilt,
            log_scale,
            infinity_mass,
            stray_mass: 2.0 * stray_mass,
            round_off: error.on_delta(tilt, self.step, length),
            complete_below: false,
        }
    }

    /// The tilted law of the sum on `length` points from `first` on, cyclically, and how far it may be off.
    fn tilted_power(
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
struct RoundOff {
    largest: f64,
    norm: f64,
}

impl RoundOff {
    /// The effect on the sum of `w = e^(-tilt x) (1 - e^-x)`, or of `w = e^(-tilt x)`, over the points x >= 0 of the
    /// window: the sum of w times the largest error, or the norm of w times the norm of the error.
    fn on_delta(&self, tilt: f64, step: f64, length: usize) -> f64 {
        let sum = |tilt: f64| (-1.0 / expm1(-tilt * step)).min(length as f64);
        (sum(tilt) * self.largest).min(sum(2.0 * tilt).sqrt() * self.norm)
    }
}

impl Composition {
    /// The composed law without tilt, for curves and for further composition.
    ///
    /// Compose with [`Aim::Whole`] first: undoing a tilt magnifies round-off on the light side.
    pub fn untilted(&self) -> LossGrid {
        let mut masses: Vec<f64> = self.tilted.clone();
        for (i, mass) in masses.iter_mut().enumerate() {
            let loss = self.origin + (self.first + i as i64) as f64 * self.step;
            *mass *= exp(self.log_scale - self.tilt * loss);
        }
        let mut infinity_mass = self.infinity_mass;
        if !self.complete_below {
            let lowest = self.origin + self.first as f64 * self.step;
            let stray = (self.stray_mass + self.round_off) * exp(self.log_scale - self.tilt * lowest);
            match self.side {
                // Mass below the window and round-off are unknown but at most this.
                Side::Upper => infinity_mass += stray,
                // Taking it from the top makes the law stochastically smaller than the true one.
                Side::Lower => {
                    let mut to_drop = stray;
                    for mass in masses.iter_mut().rev() {
                        let dropped = to_drop.min(*mass);
                        *mass -= dropped;
                        to_drop -= dropped;
                    }
                }
            }
        }
        LossGrid {
            side: self.side,
            step: self.step,
            origin: self.origin,
            first: self.first,
            masses,
            infinity_mass,
        }
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
fn fast_length(least: usize) -> usize {
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
