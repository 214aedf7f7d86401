//! Exact pairs for shuffling and balls-in-bins, without Monte Carlo: certified intervals around a pair's epsilon.
//!
//! Every batch of an epoch is N(0, s^2), except the target's. Its mean is a under P and b under Q, and its place is
//! random. For a level l, the divergence delta(l) = P(L > l) - e^l Q(L > l) is `E_0 (sum_t w_t g(y_t))+`, a convex
//! function of a sum of independent terms ([`ShiftPair`]). Rounding the terms to a grid, at random and without bias,
//! makes it larger. The sign of the rounded sum is a test, which makes it smaller. Both errors are of the order of the
//! step squared. Both bounds come from one Fourier transform of the terms' law. Many epochs are composed from one
//! epoch's divergences at about a hundred levels ([`EpochLaws`]). The upper law connects the dots, and the lower law
//! joins tests.
//!
//! For one epoch, widths are a few parts in 1e5; for many epochs, about 1e-4. This holds for delta of at least about
//! 1e-9 and up to about 1e5 batches. Beyond that range, intervals stay valid but become wider. One reason is round-off,
//! which is bounded but not tilted away above level zero. The other is the limited number of grid points.
//!
//! Round-off of the transforms is assumed to be `8 u log2 N` per transform and factor (`sum_law.rs`). This is not
//! proven: [what certified means](crate#what-certified-means).
//!
//! Proof and known gaps: `docs/proofs/exact-pair.md`; balls-in-bins: `docs/proofs/balls-in-bins.md`. The ends of an
//! interval mean:
//!
//! | scheme | `epsilon_lower_bound` | `epsilon_upper_bound` |
//! |---|---|---|
//! | [`ShiftPair::shuffle`], [`ShiftPair::weighted_shuffle`] | a lower bound for shuffling | an upper bound for this pair only: gradients that adapt to earlier outputs can leak more. The proven upper bound is the fixed order's, [`Gaussian::fixed_order`](crate::gaussian::Gaussian::fixed_order) |
//! | [`ShiftPair::balls_in_bins`] | a lower bound | an upper bound, because the pair is proven to dominate |
//!
//! ```
//! use misdeal_theory::pairs::{ShiftPair, Target, interval};
//! let interval = interval(&ShiftPair::shuffle(1.0, 100)?, Target { epochs: 1, delta: 1e-5 })?;
//! assert!(interval.epsilon_lower_bound < 4.06602 && 4.06602 < interval.epsilon_upper_bound);
//! assert!(interval.epsilon_upper_bound - interval.epsilon_lower_bound < 1e-4);
//! # Ok::<(), misdeal_core::Error>(())
//! ```

mod cells;
mod epoch_laws;
mod knots;
mod level;
mod lower_law;
mod one_epoch;
mod shift_pair;
mod sign_law;
mod sum_law;
mod totals;
mod upper_law;
mod weights;
mod window;

pub use epoch_laws::{BothDirections, EpochLaws};
pub use level::LevelPoint;
pub use shift_pair::{LEAST_NOISE_MULTIPLIER, MOST_GROUPS, ShiftPair, WeightGroup};

use crate::work::{OutOfReach, Work};
use misdeal_core::{Error, Result};

/// The number of cells per standard deviation of an output.
const CELLS_PER_DEVIATION: u32 = 256;

/// Exact pairs need a delta above this value. Below it, round-off hides the result.
pub const LEAST_DELTA: f64 = 1e-15;

/// The number of epochs, and the delta at which epsilon is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Passes over the data, each with a fresh order (E).
    pub epochs: u64,
    /// The delta of (epsilon, delta).
    pub delta: f64,
}

/// An interval that contains a pair's epsilon, for the larger of both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairInterval {
    /// The lower end; never too large.
    pub epsilon_lower_bound: f64,
    /// The upper end; never too small for the pair.
    pub epsilon_upper_bound: f64,
}

/// The interval that contains the epsilon of a pair.
///
/// # Errors
/// Refuses zero epochs and a `delta` outside (1e-15, 1).
///
/// # Panics
/// Never, because the work has no limit.
pub fn interval(pair: &ShiftPair, target: Target) -> Result<PairInterval> {
    let found = interval_within(pair, target, &Work::unlimited())?;
    Ok(found.expect("there is no limit"))
}

/// The interval as in [`interval`], within the rest of `work`. If that is too little, the interval is wider.
///
/// # Errors
/// The errors of [`interval`]. The inner error says that not even a wide interval is affordable.
pub fn interval_within(
    pair: &ShiftPair,
    target: Target,
    work: &Work,
) -> Result<std::result::Result<PairInterval, OutOfReach>> {
    check(target)?;
    Ok(within(pair, target, work))
}

/// The share of the work for one epoch's laws. The rest is for composing them.
const FOR_LAWS: f64 = 0.85;

fn within(pair: &ShiftPair, target: Target, work: &Work) -> std::result::Result<PairInterval, OutOfReach> {
    if target.epochs == 1 {
        return one_epoch::one_epoch(pair, target.delta, work);
    }
    let most = pair.known_batch(target.epochs).epsilon_upper_bound(target.delta);
    let laws = work.part(FOR_LAWS * work.left(), |work| EpochLaws::within(pair, target, work))?;
    let found = laws.interval_within(target, work)?;
    Ok(PairInterval { epsilon_upper_bound: found.epsilon_upper_bound.min(most), ..found })
}

fn check(target: Target) -> Result<()> {
    if target.epochs == 0 {
        let hint = "counts start at 1";
        return Err(Error::bad_value("epochs", 0, "a whole number from 1 on", hint));
    }
    if !(target.delta > LEAST_DELTA && target.delta < 1.0) {
        let allowed = format!("a number between {LEAST_DELTA:e} and 1");
        let hint = "it is usually below one over the number of records";
        return Err(Error::bad_value("delta", target.delta, allowed, hint));
    }
    Ok(())
}
