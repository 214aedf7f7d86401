//! Poisson subsampling: a certified interval for epsilon.
//!
//! The dominating pair of one step is the mixture (1-q) N(0, s^2) + q N(1, s^2) against N(0, s^2), in both orders
//! (Zhu, Dong and Wang 2022, theorem 11); the steps compose. The interval comes from the two discretisations of
//! [`crate::pld`], and the grid is refined until it is narrow enough.

mod pair;

use crate::gaussian::Gaussian;
use crate::pld::{Aim, LossGrid};
use misdeal_core::{Error, Result};
pub use pair::SubsampledGaussian;

/// A certified interval: the truth lies between the two bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Never too large.
    pub epsilon_lower_bound: f64,
    /// Never too small.
    pub epsilon_upper_bound: f64,
}

/// The interval is refined until it is narrower than this, relatively to epsilon...
const RELATIVE_WIDTH: f64 = 5e-4;
/// ... or absolutely.
const ABSOLUTE_WIDTH: f64 = 2e-6;
/// Points of the first grid; each refinement multiplies them by at most [`FASTEST_REFINEMENT`].
const FIRST_POINTS: f64 = 400.0;
const FASTEST_REFINEMENT: f64 = 12.0;
/// The finest grid of a single step; the interval is wider than asked for where this is not enough.
const MOST_POINTS: f64 = 3e6;

/// Epsilon after `steps` steps at `delta`, for adding or removing (or zeroing out) one record.
///
/// Narrower than 0.05 % or 2e-6 wherever `steps` is at most 1e6 and the noise at least 0.3; always valid.
///
/// ```
/// let interval = misdeal_theory::poisson::epsilon(1.0, 0.01, 100, 1e-5)?;
/// assert!((interval.epsilon_upper_bound - 0.71804).abs() < 4e-4);
/// # Ok::<(), misdeal_core::Error>(())
/// ```
///
/// # Errors
/// Names the argument that is out of range.
pub fn epsilon(noise_multiplier: f64, sampling_probability: f64, steps: u64, delta: f64) -> Result<Interval> {
    let pair = SubsampledGaussian::new(noise_multiplier, sampling_probability)?;
    if steps == 0 || steps > 1 << 31 {
        return Err(Error::bad_value("steps", steps, "a whole number from 1 to 2^31", "counts start at 1"));
    }
    if !(1e-300..1.0).contains(&delta) {
        let hint = "it is a probability, usually below one over the number of records";
        return Err(Error::bad_value("delta", delta, "a number from 1e-300 to below 1", hint));
    }
    if sampling_probability >= 1.0 {
        let all = Gaussian::fixed_order(noise_multiplier, steps);
        return Ok(Interval {
            epsilon_lower_bound: all.epsilon_lower_bound(delta),
            epsilon_upper_bound: all.epsilon_upper_bound(delta),
        });
    }
    Ok(refine(&pair, steps, delta))
}

fn refine(pair: &SubsampledGaussian, steps: u64, delta: f64) -> Interval {
    // What lies outside the grid may add this share to delta.
    let tail = (1e-6 * delta / steps as f64).max(1e-305);
    let range = pair.loss_range(tail);
    let read = |law: LossGrid| law.compose(steps, Aim::Delta(delta)).epsilon(delta);
    let mut best = Interval { epsilon_lower_bound: 0.0, epsilon_upper_bound: f64::INFINITY };
    let mut points = FIRST_POINTS;
    loop {
        let t0 = std::time::Instant::now();
        let cells = pair.cells((range.1 - range.0) / points, tail);
        let t1 = t0.elapsed();
        let upper = read(cells.pessimistic());
        let lower = read(cells.optimistic());
        println!("{points} {lower} {upper} {t1:?} {:?}", t0.elapsed());
        let (mut upper, mut lower) = (upper, lower);
        let wanted = |upper: f64| ABSOLUTE_WIDTH.max(RELATIVE_WIDTH * upper);
        if upper - lower <= wanted(upper) || points >= MOST_POINTS {
            // The other order rarely matters: its upper bound shows that, and else its lower bound counts too.
            let reversed = cells.reversed();
            let upper_reversed = read(reversed.pessimistic());
            if upper_reversed > upper {
                upper = upper_reversed;
                lower = lower.max(read(reversed.optimistic()));
            }
            best.epsilon_upper_bound = best.epsilon_upper_bound.min(upper);
        }
        best.epsilon_lower_bound = best.epsilon_lower_bound.max(lower);
        let width = upper - lower;
        if width <= wanted(upper) || points >= MOST_POINTS {
            return best;
        }
        // The width falls with the square of the grid's.
        let refinement = (1.15 * (width / wanted(upper)).sqrt()).clamp(1.3, FASTEST_REFINEMENT);
        points = (points * refinement).min(MOST_POINTS);
    }
}

#[cfg(test)]
mod tests;
