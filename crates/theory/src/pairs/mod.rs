//! Shuffling and balls-in-bins exactly, without Monte Carlo: certified intervals around a pair's epsilon.
//!
//! Every batch of an epoch is N(0, s^2) but the target's, whose mean is a under P and b under Q and whose place is
//! random. For a level l the divergence delta(l) = P(L > l) - e^l Q(L > l) is `E_0 (sum_t w_t g(y_t))+`, a convex
//! function of a sum of independent terms ([`ShiftPair`]). Rounding the terms to a grid at random, without bias,
//! makes it larger, and the sign of the rounded sum is a test that makes it smaller; both cost the step squared, and
//! both come from one Fourier transform of the terms' law. Many epochs are composed from one epoch's divergences at
//! some hundred levels, dots connected for the upper law and tests joined for the lower one ([`EpochLaws`]).
//!
//! Widths are a few parts in 1e5 for one epoch and about 1e-4 for many, for delta from about 1e-9 on and up to some
//! 1e5 batches; beyond, intervals stay valid and grow: by round-off, which is bounded and not tilted away above level
//! zero, and by the grid, which has an end.
//!
//! Round-off of the transforms is taken as `8 u log2 N` per transform and factor (`sum_law.rs`), which is assumed and not proven:
//! [what certified means](crate#what-certified-means).
//!
//! Proof and known gaps: `docs/proofs/exact-pair.md`; balls-in-bins: `docs/proofs/balls-in-bins.md`. What the ends mean:
//!
//! | scheme | `epsilon_lower_bound` | `epsilon_upper_bound` |
//! |---|---|---|
//! | [`ShiftPair::shuffle`], [`ShiftPair::weighted_shuffle`] | a lower bound for shuffling | of this pair only: gradients that adapt to earlier outputs can leak more. The proven upper bound is the fixed order's, [`Gaussian::fixed_order`](crate::gaussian::Gaussian::fixed_order) |
//! | [`ShiftPair::balls_in_bins`] | a lower bound | an upper bound: the pair is proven to dominate |
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

/// Cells into which one standard deviation of an output is cut.
const CELLS_PER_DEVIATION: u32 = 256;

/// Exact pairs need a delta above this: below, their round-off hides what they look for.
pub const LEAST_DELTA: f64 = 1e-15;

/// How often the epoch is repeated, and at which delta epsilon is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Passes over the data, each with a fresh order (E).
    pub epochs: u64,
    /// The delta of (epsilon, delta).
    pub delta: f64,
}

/// An interval that holds a pair's epsilon, the larger of both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairInterval {
    /// Never too large.
    pub epsilon_lower_bound: f64,
    /// Never too small for the pair.
    pub epsilon_upper_bound: f64,
}

/// The interval that holds the epsilon of any pair of this family.
///
/// # Errors
/// Refuses zero epochs and a `delta` outside (1e-15, 1).
///
/// # Panics
/// Never: work without a limit lasts.
pub fn interval(pair: &ShiftPair, target: Target) -> Result<PairInterval> {
    let found = interval_within(pair, target, &Work::unlimited())?;
    Ok(found.expect("there is no limit"))
}

/// The same for at most what is left of `work`: a wider interval where that is not enough.
///
/// # Errors
/// As [`interval`]; and inside, a pair of which not even a wide interval is in reach.
pub fn interval_within(
    pair: &ShiftPair,
    target: Target,
    work: &Work,
) -> Result<std::result::Result<PairInterval, OutOfReach>> {
    check(target)?;
    Ok(within(pair, target, work))
}

/// Share of the work for one epoch's laws; the rest is for composing them.
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
