//! The law of a sum of many independent losses, by a fast Fourier transform of the tilted law.
//!
//! The masses are tilted by e^(t L), so that the losses that decide the answer are not rare in the tilted sum. The
//! transform's round-off is about 1e-15 of the bulk. After tilting it is small compared with the answer, even for a
//! small delta. A light tilt comes first, because it needs the smallest window. By Chernoff bounds the window holds
//! nearly all of the tilted sum. If round-off would matter, the sum is tilted until its mean is the answer.
//!
//! The remaining errors are put on the safe side:
//! - Mass above the window is counted as infinite (upper) or dropped (lower).
//! - Mass from outside that wraps into the window is left there (upper), or its largest effect is subtracted (lower).
//! - The largest effect of round-off is added (upper) or subtracted (lower). It follows from a bound on the transforms'
//!   2-norm error (`transform.rs`) and on the error of raising to a power (`powers.rs`).
//! - Relative errors of the masses and of summing the window's points give a factor `1 ± steps * 2e-13`, and 8 units of
//!   round-off for every point.

use super::transform::fast_length;
use super::{LossGrid, Side};
use crate::work::{MOST_POINTS, OutOfReach, Work};
use libm::{ceil, exp, expm1, floor, log, log1p};

/// The value that the composition is made for. Other values are valid but less accurate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// Reading the epsilon at this delta.
    Delta(f64),
    /// Reading the delta at this epsilon.
    Epsilon(f64),
    /// Reading the whole law, with an absolute error of about 1e-14.
    Whole,
}

/// The tilted law of the sum of many losses.
///
/// Read it with `delta`, `epsilon` or [`Composition::untilted`].
#[derive(Debug, Clone)]
pub struct Composition {
    pub(super) side: Side,
    pub(super) step: f64,
    pub(super) origin: f64,
    pub(super) first: i64,
    /// `P(sum = x) = tilted * e^(log_scale - tilt x)`. The errors listed above are already on the safe side.
    pub(super) tilted: Vec<f64>,
    pub(super) tilt: f64,
    pub(super) log_scale: f64,
    pub(super) infinity_mass: f64,
    /// The tilted mass that may have wrapped into the window.
    pub(super) stray_mass: f64,
    /// The largest round-off error of a scaled delta, or of the probability of exceeding a point.
    pub(super) round_off: f64,
    /// Whether the law is also known below the window, where it is empty.
    pub(super) complete_below: bool,
}

/// The tilted mass that may lie outside the window on each side, as a share of the answer.
const STRAY_SHARE: f64 = 1e-7;
/// The probability of the answer under a light tilt, per step.
const ROUND_OFF_PER_STEP: f64 = 3e-8;
/// If the relative uncertainty of delta is larger, the sum is tilted further.
pub(crate) const MOST_BLUR: f64 = 1e-3;
/// The tilted mass that may lie outside the window for [`Aim::Whole`]; here it is absolute.
const STRAY_MASS_WHOLE: f64 = 1e-15;
pub(super) const UNIT_ROUND_OFF: f64 = f64::EPSILON / 2.0;
/// The relative accuracy of the masses (1e-13), and the same again for placing them on the grid.
const MASS_ERROR: f64 = 2e-13;
/// Minus the logarithm of the smallest positive float.
const LARGEST_LOG: f64 = 745.0;

impl LossGrid {
    /// The law of the sum of `times` independent losses, at any cost. It errs to the same side.
    ///
    /// # Panics
    /// If `times` is zero.
    pub fn compose(&self, times: u64, aim: Aim) -> Composition {
        self.compose_within(times, aim, &Work::unlimited()).expect("there is no limit")
    }

    /// The law as in [`compose`](Self::compose), within the rest of `work`.
    ///
    /// # Errors
    /// The window is too long for memory or for the remaining work.
    ///
    /// # Panics
    /// If `times` is zero.
    pub fn compose_within(&self, times: u64, aim: Aim, work: &Work) -> Result<Composition, OutOfReach> {
        self.compose_on(times, aim, MOST_POINTS, work)
    }

    /// The law as in [`compose_within`](Self::compose_within), on at most `most` points.
    pub(crate) fn compose_on(
        &self,
        times: u64,
        aim: Aim,
        most: usize,
        work: &Work,
    ) -> Result<Composition, OutOfReach> {
        assert!(times > 0, "a composition has at least one step");
        let infinity_mass = -expm1(times as f64 * log1p(-self.infinity_mass));
        if times == 1 || self.masses.iter().all(|&mass| mass <= 0.0) {
            let margin = self.margin(MASS_ERROR + 8.0 * UNIT_ROUND_OFF * self.masses.len() as f64);
            return Ok(Composition {
                side: self.side,
                step: self.step,
                origin: self.origin,
                first: self.first,
                tilted: self.masses.iter().map(|mass| mass * margin).collect(),
                tilt: 0.0,
                log_scale: 0.0,
                infinity_mass: infinity_mass * margin,
                stray_mass: 0.0,
                round_off: 0.0,
                complete_below: true,
            });
        }
        let n = times as f64;
        let window = Window { times, work, most };
        match aim {
            Aim::Whole => self.compose_tilted(&window, 0.0, STRAY_MASS_WHOLE),
            Aim::Epsilon(epsilon) => {
                let tilt = self.tilt_for_mean(n, epsilon);
                self.compose_tilted(&window, tilt, STRAY_SHARE * 1e-3)
            }
            Aim::Delta(delta) => {
                // Round-off grows with the number of steps, so the answer must be less rare under the tilted law.
                let rarity = (ROUND_OFF_PER_STEP * n).min(0.1);
                let tilt =
                    if delta < rarity { self.tilt_for_probability(n, log(delta / rarity)) } else { 0.0 };
                let light = self.compose_tilted(&window, tilt, STRAY_SHARE * rarity.max(delta))?;
                let epsilon = light.epsilon(delta);
                if light.blur(epsilon, delta) <= MOST_BLUR {
                    return Ok(light);
                }
                drop(light);
                let tilt = if epsilon.is_finite() {
                    self.tilt_for_mean(n, epsilon)
                } else {
                    self.tilt_for_probability(n, log(delta))
                };
                self.compose_tilted(&window, tilt, STRAY_SHARE * 1e-3)
            }
        }
    }

    /// The factor that makes masses with this relative error err to this law's side.
    fn margin(&self, relative: f64) -> f64 {
        match self.side {
            Side::Upper => 1.0 + relative,
            Side::Lower => (1.0 - relative).max(0.0),
        }
    }

    /// The sum under a tilt, in a window that leaves out at most `stray_mass` on each side.
    fn compose_tilted(
        &self,
        window: &Window<'_>,
        tilt: f64,
        stray_mass: f64,
    ) -> Result<Composition, OutOfReach> {
        let &Window { times, work, most } = window;
        let n = times as f64;
        work.charge(MOMENTS * self.masses.len() as f64)?;
        let infinity_mass = -expm1(n * log1p(-self.infinity_mass));
        let bottom = self.end_of_support(n, tilt, -1.0, log(stray_mass));
        let top = self.end_of_support(n, tilt, 1.0, log(stray_mass));
        let origin = n * self.origin;
        let points = ceil((top - bottom) / self.step) + 4.0;
        work.check_points(points, most)?;
        // Positions are 64-bit integers.
        work.check_points(
            (n * (self.first as f64).abs().max(self.masses.len() as f64)).abs() / 1e9,
            1 << 30,
        )?;
        work.charge(points * (PER_LEVEL * points.max(2.0).log2() + per_point(times)))?;
        let first = floor((bottom - origin) / self.step) as i64 - 1;
        let length = fast_length((ceil((top - origin) / self.step) as i64 + 2 - first).max(2) as usize);
        let log_moment = self.moment(tilt).log_value;
        let (mut tilted, error) = self.tilted_power(times, tilt, log_moment, first, length);
        let log_scale = n * log_moment;
        // The round-off of the moment and of every tilted mass is multiplied by the number of steps. If e^(tilt loss)
        // overflows, the tilted mass is too small to matter.
        let ends = f64::max(self.loss(0).abs(), self.loss(self.masses.len() - 1).abs());
        let exponent = f64::min(tilt * ends, LARGEST_LOG + log_moment.abs());
        let relative = n * (MASS_ERROR + UNIT_ROUND_OFF * (4.0 * log_moment.abs() + 2.0 * exponent))
            + 8.0 * UNIT_ROUND_OFF * length as f64;
        let margin = self.margin(relative);
        for mass in &mut tilted {
            *mass = mass.max(0.0) * margin;
        }
        let beyond =
            exp(log_scale - tilt * (origin + (first + length as i64) as f64 * self.step)) * stray_mass;
        let infinity_mass = match self.side {
            Side::Upper => (infinity_mass + beyond) * margin,
            Side::Lower => infinity_mass * margin,
        };
        Ok(Composition {
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
        })
    }
}

/// The limits on the cost of a composition.
struct Window<'a> {
    times: u64,
    work: &'a Work,
    /// The largest number of points of the window.
    most: usize,
}

/// The units of work for every mass of one step. They pay for about 75 moments.
const MOMENTS: f64 = 150.0;
/// The units of work for every point of the window and every level of both transforms.
const PER_LEVEL: f64 = 2.0;

/// The other units of work for every point of the window: raising its frequency to a power, and reading it.
fn per_point(times: u64) -> f64 {
    if times <= super::powers::MOST_BY_SQUARING { 30.0 + 4.0 * (times as f64).log2() } else { 110.0 }
}

impl Composition {
    /// The number of points of the window.
    pub fn points(&self) -> usize {
        self.tilted.len()
    }

    /// The composed law without tilt, for curves and for further composition.
    ///
    /// Use [`Aim::Whole`] when you compose. Otherwise removing the tilt magnifies round-off on the light side.
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
                // The mass below the window and the round-off are unknown, but at most this.
                Side::Upper => infinity_mass += stray,
                // Removing it from the top makes the law stochastically smaller than the true one.
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
