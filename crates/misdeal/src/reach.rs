//! Warns before a run if its observations are too few to refute the claim.
//!
//! # When is there no warning?
//! There is no warning if theory proves the claim, if the estimate is no valid bound, or if nothing is left to play. More
//! observations would not help then. Scores in a resumed store count as observations. Theory is computed before the run for this
//! reason.

use crate::{Result, RunOptions};
use misdeal_core::ScoreStore;
use misdeal_statistics::{Guarantee, Look, ThresholdChoice, fewest_trials_above, largest_epsilon};
use std::ops::Range;

/// A claim that no outcome of a run can refute, because the observations are too few.
///
/// [`Progress::cannot_refute`](crate::Progress::cannot_refute) receives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClaimOutOfReach {
    /// The claim.
    pub claimed_epsilon: f64,
    /// The planned number of observations.
    pub observations: u64,
    /// The largest epsilon that this many observations can show.
    pub largest_epsilon: f64,
    /// The fewest observations that can show more than the claim; `None` if no such number is known.
    pub fewest_observations: Option<u64>,
}

impl ClaimOutOfReach {
    /// Returns `Some` if no outcome of this run can refute the claim.
    ///
    /// The run resumes from `store`, with `each` scores per observation. Returns `None` if an outcome can refute the claim, if no
    /// number of observations could give a valid bound, or if nothing is left to play. For a shard, the answer is for the whole
    /// run.
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
