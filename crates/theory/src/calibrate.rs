//! Calibration: finds the noise for a target epsilon.

use crate::root::{Bracket, narrow};
use libm::{exp, log};
use misdeal_core::{Error, NOISE_MULTIPLIERS, Result};

/// A calibrated noise multiplier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// The noise multiplier. Its epsilon is at most the target.
    pub noise_multiplier: f64,
    /// The accountant's epsilon at that noise.
    pub epsilon: f64,
    /// The number of calls of the accountant.
    pub evaluations: u32,
}

/// The relative accuracy of the noise.
pub const RELATIVE_WIDTH: f64 = 1e-6;
const LEAST_NOISE: f64 = *NOISE_MULTIPLIERS.start();
const MOST_NOISE: f64 = *NOISE_MULTIPLIERS.end();

/// The share of the remaining work for the accountant's call number `evaluations`, counted from 0.
///
/// A calibration makes about fifteen calls.
pub fn share_of_work(evaluations: u32) -> f64 {
    1.0 / f64::from(15_u32.saturating_sub(evaluations).max(4))
}

/// The smallest noise multiplier whose `epsilon` is at most `target_epsilon`, accurate to 1e-6 relative.
///
/// `epsilon` maps the noise to epsilon at the wanted delta, and must not increase. If it is an upper bound, the noise
/// is never too small for the target. If it is a lower bound, less noise certainly misses the target. An accountant
/// with refined grids varies slightly, and the result varies with it. Its epsilon is still at most the target.
///
/// ```
/// use misdeal_theory::{calibrate::calibrate, gaussian::Gaussian};
/// let found = calibrate(1.0, |noise| Ok(Gaussian::fixed_order(noise, 10).epsilon_upper_bound(1e-5)))?;
/// assert!(found.epsilon <= 1.0 && (found.noise_multiplier - 11.80).abs() < 0.01);
/// # Ok::<(), misdeal_core::Error>(())
/// ```
///
/// # Errors
/// No noise in [`NOISE_MULTIPLIERS`] meets the target, the smallest noise already meets it, or the accountant fails.
pub fn calibrate(target_epsilon: f64, epsilon: impl FnMut(f64) -> Result<f64>) -> Result<Calibration> {
    calibrate_by(target_epsilon, &Search::default(), epsilon)
}

/// The place where a calibration begins, and its accuracy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// The first noise that is tried. A good guess saves calls of the accountant.
    pub start: f64,
    /// The logarithm of the first factor away from it.
    pub stride: f64,
    /// The relative accuracy of the noise.
    pub relative_width: f64,
}

impl Default for Search {
    /// Begins at noise 1 in steps of a factor of two, to [`RELATIVE_WIDTH`].
    fn default() -> Self {
        Search { start: 1.0, stride: 0.7, relative_width: RELATIVE_WIDTH }
    }
}

/// The noise multiplier as in [`calibrate`], by a search of its own.
///
/// # Errors
/// The errors of [`calibrate`].
pub fn calibrate_by(
    target_epsilon: f64,
    search: &Search,
    mut epsilon: impl FnMut(f64) -> Result<f64>,
) -> Result<Calibration> {
    if !(1e-9..=1e9).contains(&target_epsilon) {
        let hint = "smaller means more private";
        return Err(Error::bad_value("target_epsilon", target_epsilon, "a number from 1e-9 to 1e9", hint));
    }
    let mut evaluations = 0;
    let mut refusal = None;
    // In logarithms, epsilon is nearly a straight line. An epsilon of zero counts as far below the target, but not
    // infinitely far.
    let mut excess = |log_noise: f64| {
        evaluations += 1;
        match epsilon(noise_at(log_noise)) {
            Ok(epsilon) => log(epsilon.clamp(1e-12 * target_epsilon, 1e12 * target_epsilon) / target_epsilon),
            Err(error) => {
                refusal.get_or_insert(error);
                0.0
            }
        }
    };
    let bracket = bracket(search, &mut excess);
    let end = bracket.map(|bracket| narrow(&mut excess, bracket, 0.5 * search.relative_width));
    let hint = "change the target, delta, or the number of steps";
    match refusal {
        // The user did not give this noise. The target requires it, so the error names the target.
        Some(Error::BadValue { field: "noise_multiplier", allowed, .. }) => {
            let allowed = format!("an epsilon that some noise multiplier meets which is {allowed}");
            return Err(Error::bad_value("target_epsilon", target_epsilon, allowed, hint));
        }
        Some(error) => return Err(error),
        None => {}
    }
    let Some(end) = end else {
        let allowed = format!("an epsilon that some noise from {LEAST_NOISE} to {MOST_NOISE} just meets");
        return Err(Error::bad_value("target_epsilon", target_epsilon, allowed, hint));
    };
    // The rounding of the logarithm must not make the noise too small.
    let noise_multiplier = (noise_at(end.high.0) * (1.0 + 4.0 * f64::EPSILON)).min(MOST_NOISE);
    Ok(Calibration { noise_multiplier, epsilon: target_epsilon * exp(end.high.1), evaluations })
}

/// The noise with this logarithm, within the allowed range.
fn noise_at(log_noise: f64) -> f64 {
    exp(log_noise).clamp(LEAST_NOISE, MOST_NOISE)
}

/// Moves from the first noise in growing steps until the excess changes its sign.
fn bracket(search: &Search, mut excess: impl FnMut(f64) -> f64) -> Option<Bracket> {
    let (least, most) = (log(LEAST_NOISE), log(MOST_NOISE));
    let first = log(search.start).clamp(least, most);
    let start = (first, excess(first));
    let (mut last, mut stride) = (start, search.stride);
    let upwards = start.1 > 0.0;
    while if upwards { last.0 < most } else { last.0 > least } {
        let x = if upwards { (last.0 + stride).min(most) } else { (last.0 - stride).max(least) };
        let next = (x, excess(x));
        if (next.1 > 0.0) != upwards {
            return Some(if upwards {
                Bracket { low: last, high: next }
            } else {
                Bracket { low: next, high: last }
            });
        }
        (last, stride) = (next, 1.5 * stride);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gaussian::Gaussian, poisson};

    #[test]
    fn inverts_the_closed_form() {
        for target in [0.01, 0.1, 1.0, 8.0, 300.0] {
            for epochs in [1, 100] {
                let epsilon = |noise: f64| Gaussian::fixed_order(noise, epochs).epsilon_upper_bound(1e-6);
                let found = calibrate(target, |noise| Ok(epsilon(noise))).unwrap();
                assert!(epsilon(found.noise_multiplier) <= target);
                assert!(epsilon(found.noise_multiplier * (1.0 - 1.1 * RELATIVE_WIDTH)) > target);
                assert!(found.evaluations <= 20, "{target} {epochs}: {}", found.evaluations);
            }
        }
    }

    #[test]
    fn meets_the_target_with_an_accountant_that_jitters() {
        let epsilon = |noise: f64| poisson::epsilon(noise, 0.01, 1000, 1e-5).map(|i| i.epsilon_upper_bound);
        let found = calibrate(2.0, epsilon).unwrap();
        assert!(epsilon(found.noise_multiplier).unwrap() <= 2.0);
        assert!(epsilon(found.noise_multiplier * 0.999).unwrap() > 2.0);
        assert!(found.evaluations <= 30, "{}", found.evaluations);
    }

    #[test]
    fn a_good_guess_saves_calls_and_changes_nothing() {
        let epsilon = |noise: f64| Ok(Gaussian::fixed_order(noise, 10).epsilon_upper_bound(1e-6));
        let far = calibrate(2.0, epsilon).unwrap();
        for start in [0.9 * far.noise_multiplier, 1.1 * far.noise_multiplier, 0.01, 1e4] {
            let search = Search { start, stride: 0.05, ..Search::default() };
            let near = calibrate_by(2.0, &search, epsilon).unwrap();
            assert!((near.noise_multiplier / far.noise_multiplier - 1.0).abs() < RELATIVE_WIDTH, "{start}");
            assert!(!(0.1..=100.0).contains(&start) || near.evaluations < far.evaluations, "{start}");
        }
    }

    /// The search does not call the accountant outside the allowed range of noise.
    #[test]
    fn finds_noise_near_both_ends() {
        let epsilon = |noise: f64| {
            assert!((LEAST_NOISE..=MOST_NOISE).contains(&noise), "{noise}");
            Ok(Gaussian::fixed_order(noise, 1).epsilon_upper_bound(1e-5))
        };
        for noise in [0.0101, 0.02, 0.03, 9_000.0] {
            let found = calibrate(epsilon(noise).unwrap(), epsilon).unwrap().noise_multiplier;
            assert!((found / noise - 1.0).abs() < 2.0 * RELATIVE_WIDTH, "{found} for {noise}");
        }
        for target in [1e-8, 1e5] {
            let refusal = calibrate(target, epsilon).unwrap_err().to_string();
            assert!(
                refusal.contains("target_epsilon") && refusal.contains("some noise from 0.01"),
                "{refusal}"
            );
        }
        let narrow = |noise: f64| match noise {
            noise if noise < 0.05 => {
                Err(Error::bad_value("noise_multiplier", noise, "at least 0.05", "more"))
            }
            _ => epsilon(noise),
        };
        let refusal = calibrate(1_000.0, narrow).unwrap_err().to_string();
        assert!(
            refusal.starts_with("target_epsilon is 1000") && refusal.contains("at least 0.05"),
            "{refusal}"
        );
    }

    #[test]
    fn refuses_what_no_noise_meets() {
        let refusal = calibrate(1.0, |_| Ok(2.0)).unwrap_err().to_string();
        assert!(refusal.starts_with("target_epsilon is 1,"), "{refusal}");
        assert!(calibrate(f64::NAN, |_| Ok(2.0)).is_err());
        let refused =
            calibrate(1.0, |noise| poisson::epsilon(noise, 2.0, 1, 1e-5).map(|i| i.epsilon_upper_bound));
        assert!(refused.unwrap_err().to_string().starts_with("sampling_probability"));
    }
}
