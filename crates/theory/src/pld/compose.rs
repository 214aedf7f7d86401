//! Many steps: the law of a sum of independent losses, by a fast Fourier transform of the tilted law.
//!
//! The masses are tilted by e^(t L), with t such that the losses that decide the answer are the bulk of the tilted
//! sum. The transform's round-off, about 1e-15 of the bulk, is then small against what is read off, however small
//! delta is. The window holds all but [`STRAY_MASS`] of the tilted sum, by Chernoff bounds.
//!
//! What is left is put on the safe side:
//! - mass above the window: counted as infinite (upper) or dropped (lower);
//! - mass from outside that wraps into the window: left there (upper) or its largest effect subtracted (lower);
//! - round-off: added to (subtracted from) every mass, after Higham (2002), theorem 24.2: a transform of length N has
//!   a relative 2-norm error of at most about 8 u log2 N, and a power multiplies it by the number of steps;
//! - relative errors of the masses: a factor `1 ± steps * 2e-13`.

use super::{LossGrid, Side};
use libm::{ceil, exp, expm1, floor, log, log1p};
use realfft::RealFftPlanner;
use realfft::num_complex::Complex;

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
    pub(super) first: i64,
    /// `P(sum = x) = tilted * e^(log_scale - tilt x)`, up to the errors above, which are already on the safe side.
    pub(super) tilted: Vec<f64>,
    pub(super) tilt: f64,
    pub(super) log_scale: f64,
    pub(super) infinity_mass: f64,
    /// Tilted mass that may have wrapped into the window.
    pub(super) stray_mass: f64,
    /// The window's bottom hides no mass: the law is known below it too (it is empty there).
    pub(super) complete_below: bool,
}

/// Tilted mass that may lie outside the window on either side.
const STRAY_MASS: f64 = 1e-10;
/// The same for [`Aim::Whole`], where it is absolute.
const STRAY_MASS_WHOLE: f64 = 1e-15;
const UNIT_ROUND_OFF: f64 = f64::EPSILON / 2.0;
/// Relative accuracy of the masses (1e-13) and of tilting them.
const MASS_ERROR: f64 = 2e-13;

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
                first: self.first,
                tilted: self.masses.clone(),
                tilt: 0.0,
                log_scale: 0.0,
                infinity_mass,
                stray_mass: 0.0,
                complete_below: true,
            };
        }
        let n = times as f64;
        let tilt = match aim {
            Aim::Delta(delta) => self.tilt_for_probability(n, log(delta)),
            Aim::Epsilon(epsilon) => self.tilt_for_mean(n, epsilon),
            Aim::Whole => 0.0,
        };
        let stray_mass = if aim == Aim::Whole { STRAY_MASS_WHOLE } else { STRAY_MASS };
        let bottom = self.end_of_support(n, tilt, -1.0, log(stray_mass));
        let top = self.end_of_support(n, tilt, 1.0, log(stray_mass));
        let first = floor(bottom / self.step) as i64 - 1;
        let length = fast_length((ceil(top / self.step) as i64 + 2 - first).max(2) as usize);
        let log_moment = self.moment(tilt).log_value;
        let (mut tilted, cell_error) = self.tilted_power(times, tilt, log_moment, first, length);
        let log_scale = n * log_moment;
        // The moment's own round-off, and that of every tilted mass, come back times the number of steps.
        let relative = n * (MASS_ERROR + 4.0 * UNIT_ROUND_OFF * log_moment.abs());
        let beyond = exp(log_scale - tilt * (first + length as i64) as f64 * self.step) * stray_mass;
        let infinity_mass = match self.side {
            Side::Upper => {
                for mass in &mut tilted {
                    *mass = (mass.max(0.0) + cell_error) * (1.0 + relative);
                }
                infinity_mass + beyond
            }
            Side::Lower => {
                for mass in &mut tilted {
                    *mass = (*mass - cell_error).max(0.0) * (1.0 - relative).max(0.0);
                }
                infinity_mass
            }
        };
        Composition {
            side: self.side,
            step: self.step,
            first,
            tilted,
            tilt,
            log_scale,
            infinity_mass,
            stray_mass: 2.0 * stray_mass,
            complete_below: false,
        }
    }

    /// The tilted law of the sum on `length` points from `first` on, cyclically, and a bound on each mass's error.
    fn tilted_power(
        &self,
        times: u64,
        tilt: f64,
        log_moment: f64,
        first: i64,
        length: usize,
    ) -> (Vec<f64>, f64) {
        let mut planner = RealFftPlanner::<f64>::new();
        let mut folded = vec![0.0; length];
        for (i, mass) in self.masses.iter().enumerate() {
            let at = (self.first + i as i64).rem_euclid(length as i64) as usize;
            folded[at] += mass * exp(tilt * self.loss(i) - log_moment);
        }
        let input_norm = norm(folded.iter().map(|mass| mass * mass));
        let forward = planner.plan_fft_forward(length);
        let mut spectrum = forward.make_output_vec();
        forward.process(&mut folded, &mut spectrum).expect("lengths come from the plan");
        let (mut one_less_norm, mut power_norm, mut power_sum) = (0.0, 0.0, 0.0);
        for z in &mut spectrum {
            let one_less = power(*z, times - 1);
            *z *= one_less;
            one_less_norm += one_less.norm_sqr();
            power_norm += z.norm_sqr();
            power_sum += z.norm();
        }
        // Only half of the spectrum is stored; the other half is its conjugate.
        let (one_less_norm, power_norm) = ((2.0 * one_less_norm).sqrt(), (2.0 * power_norm).sqrt());
        let inverse = planner.plan_fft_inverse(length);
        // Rounding may leave an imaginary part where a real transform has none.
        spectrum[0].im = 0.0;
        if length.is_multiple_of(2) {
            spectrum[length / 2].im = 0.0;
        }
        inverse.process(&mut spectrum, &mut folded).expect("lengths come from the plan");
        let scale = 1.0 / length as f64;
        let tilted = (0..length as i64)
            .map(|i| folded[(first + i).rem_euclid(length as i64) as usize] * scale)
            .collect();

        let transform_error = 8.0 * UNIT_ROUND_OFF * (length as f64).log2();
        let (n, root) = (times as f64, (length as f64).sqrt());
        let from_forward = n * one_less_norm / root * transform_error * input_norm;
        let from_powers = 5.0 * n * UNIT_ROUND_OFF * 2.0 * power_sum * scale;
        let from_inverse = transform_error * power_norm / root;
        (tilted, 1.1 * (from_forward + from_powers + from_inverse))
    }
}

impl Composition {
    /// The composed law without tilt, for curves and for further composition.
    ///
    /// Compose with [`Aim::Whole`] first: undoing a tilt magnifies round-off on the light side.
    pub fn untilted(&self) -> LossGrid {
        let mut masses: Vec<f64> = self.tilted.clone();
        for (i, mass) in masses.iter_mut().enumerate() {
            let loss = (self.first + i as i64) as f64 * self.step;
            *mass *= exp(self.log_scale - self.tilt * loss);
        }
        let mut infinity_mass = self.infinity_mass;
        if !self.complete_below {
            let stray = self.stray_mass * exp(self.log_scale - self.tilt * self.first as f64 * self.step);
            match self.side {
                // Mass below the window is unknown but at most this.
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
        LossGrid { side: self.side, step: self.step, first: self.first, masses, infinity_mass }
    }
}

fn norm(squares: impl Iterator<Item = f64>) -> f64 {
    squares.sum::<f64>().sqrt()
}

/// `z^exponent` by repeated squaring, with a relative error of at most `5 * exponent` units of round-off.
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

/// The shortest even length of at least `least` that has only the prime factors 2, 3 and 5 and few of the latter.
fn fast_length(least: usize) -> usize {
    [1, 3, 5, 9, 15]
        .map(|odd| odd * least.div_ceil(odd).next_power_of_two().max(2))
        .into_iter()
        .min()
        .unwrap()
}
