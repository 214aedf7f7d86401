//! Poisson subsampling: a certified interval for epsilon.
//!
//! The dominating pair of one step is the mixture (1-q) N(0, s^2) + q N(1, s^2) against N(0, s^2), in both orders (Zhu,
//! Dong and Wang 2022, theorem 11). The steps compose. The interval comes from the two discretisations of
//! [`crate::pld`]. The grid is refined until the interval is narrow enough (`refine.rs`). If a single rare loss
//! decides, that loss is integrated in closed form (`one_jump.rs`). Proof and known gaps: `docs/proofs/poisson.md`.

mod one_jump;
mod pair;
mod refine;

use crate::check_delta;
use crate::gaussian::Gaussian;
use crate::work::{OutOfReach, Work};
use misdeal_core::{Error, Result};
pub use pair::SubsampledGaussian;
use refine::Refinement;

/// A certified interval: the true epsilon lies between the two bounds.
///
/// See [what certified means](crate#what-certified-means).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end; never too large.
    pub epsilon_lower_bound: f64,
    /// The upper end; never too small.
    pub epsilon_upper_bound: f64,
}

/// The relative width that [`epsilon`] aims at. The cost grows with its inverse square root.
const RELATIVE_WIDTH: f64 = 2e-4;
/// Below this epsilon the wanted width is absolute: the relative width times this value.
const SMALLEST_RELATIVE: f64 = 0.25;

/// An interval for epsilon after `steps` steps at `delta`, for adding, removing or zeroing out one record.
///
/// The interval is always valid. The wanted width is 0.02 %, or 5e-5 below an epsilon of 0.25. Tests cover 1 to 1e6
/// steps, sampling probabilities of at least 1e-6, noise from 0.3 to 100 and delta from 1e-12 to 0.1. There the
/// interval is at most ten times as wide (0.2 % or 0.001), and usually as narrow as wanted.
///
/// ```
/// let interval = misdeal_theory::poisson::epsilon(1.0, 0.01, 100, 1e-5)?;
/// assert!((interval.epsilon_upper_bound - 0.71804).abs() < 2e-4);
/// # Ok::<(), misdeal_core::Error>(())
/// ```
///
/// # Errors
/// An argument is out of range, or the steps take too much work.
pub fn epsilon(noise_multiplier: f64, sampling_probability: f64, steps: u64, delta: f64) -> Result<Interval> {
    epsilon_within(noise_multiplier, sampling_probability, steps, delta, &Work::default())?.map_err(
        |OutOfReach| {
            let hint = "give more noise or fewer steps";
            Error::bad_value("steps", steps, "fewer, which 1 GB and 10 s can account for,", hint)
        },
    )
}

/// The interval as in [`epsilon`], within the rest of `work`. If that is too little, it is wider.
///
/// # Errors
/// An argument is out of range. The inner error says that the setting is out of reach.
pub fn epsilon_within(
    noise_multiplier: f64,
    sampling_probability: f64,
    steps: u64,
    delta: f64,
    work: &Work,
) -> Result<std::result::Result<Interval, OutOfReach>> {
    let pair = SubsampledGaussian::new(noise_multiplier, sampling_probability)?;
    if steps == 0 || steps > 1 << 31 {
        return Err(Error::bad_value("steps", steps, "a whole number from 1 to 2^31", "counts start at 1"));
    }
    check_delta(delta)?;
    if sampling_probability >= 1.0 {
        let all = Gaussian::fixed_order(noise_multiplier, steps);
        return Ok(Ok(Interval {
            epsilon_lower_bound: all.epsilon_lower_bound(delta),
            epsilon_upper_bound: all.epsilon_upper_bound(delta),
        }));
    }
    let excess = |width: f64, epsilon: f64| width / (RELATIVE_WIDTH * epsilon.max(SMALLEST_RELATIVE));
    Ok(Refinement { pair: &pair, steps, delta }.run(excess, work))
}

#[cfg(test)]
mod tests;
