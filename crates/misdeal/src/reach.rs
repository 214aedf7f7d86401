//! Whether this many observations can refute a claim at all, said before the run begins.
//!
//! # When is nothing said?
//! If theory proves the claim, if the estimate is no valid bound, or if nothing is left to play: more observations
//! would not help. Scores that a resumed store holds count as observations. Theory is computed before the run for
//! this reason.

use crate::{Result, RunOptions};
use misdeal_core::ScoreStore;
use misdeal_statistics::{Guarantee, Look, ThresholdChoice, fewest_trials_above, largest_epsilon};
use std::ops::Range;

/// A claim that no outcome of a run refutes: so few observations cannot show as much.
///
/// [`Progress::cannot_refute`](crate::Progress::cannot_refute) is told of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClaimOutOfReach {
    /// The claim.
    pub claimed_epsilon: f64,
    /// The observations that are to be played.
    pub observations: u64,
    /// What they can show at most.
    pub largest_epsilon: f64,
    /// The fewest that can show more than the claim; `None` where no number of them is known to.
    pub fewest_observations: Option<u64>,
}

impl ClaimOutOfReach {
    /// Whether the claim is, of a run that goes on from `store` with `each` scores an observation; `None` if an outcome of it can
    /// refute the claim, if no number of observations could make the estimate a valid bound, or if nothing is left to play.
    ///
    /// Of a part of a run, whether it is of the whole one.
    pub(crate) fn of(
        request: &RunOptions,
        claimed_epsilon: f64,
        store: &ScoreStore,
        each: u64,
    ) -> Result<Option<Self>> {
        let (estimator, choice) = request.analysis.parse()?;
        let is_bound = estimator.guarantee() == Guarantee::AnyMechanism
            && (choice.valid() || !estimator.chooses_a_threshold());
        let trials = request.trials();
        let trials = trials.start * each..trials.end * each;
        let held = |held: &Range<u64>| held.end.min(trials.end).saturating_sub(held.start.max(trials.start));
        let missing = trials.end - trials.start - store.trials().iter().map(held).sum::<u64>();
        let is_refused = choice == ThresholdChoice::Sequential
            && (each > 1 || !store.trials().is_empty() || Look::last_within(trials.end).is_none());
        if !is_bound || is_refused || missing == 0 {
            return Ok(None);
        }
        let trials = (store.observations_per_world() + missing).max(request.observations / 2 * each);
        let (delta, significance) = (request.analysis.delta, request.analysis.significance);
        let largest = largest_epsilon(trials, choice, estimator, delta, significance)?;
        let Some(largest_epsilon) = largest.filter(|&largest| largest <= claimed_epsilon) else {
            return Ok(None);
        };
        let fewest = fewest_trials_above(claimed_epsilon, choice, estimator, delta, significance)?;
        Ok(Some(ClaimOutOfReach {
            claimed_epsilon,
            observations: 2 * trials / each,
            largest_epsilon,
            fewest_observations: fewest.map(|trials| 2 * trials.div_ceil(each)),
        }))
    }
}
