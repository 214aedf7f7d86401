//! Whether so many observations can refute a claim at all, which is told before they are played.

use crate::{Progress, Result, RunRequest};
use misdeal_core::ThresholdChoice;
use misdeal_core::estimate::{Look, fewest_trials_above, largest_epsilon};
use std::sync::Once;

/// A claim that no outcome of a run refutes: so few observations cannot show as much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutOfReach {
    /// The claim.
    pub claimed_epsilon: f64,
    /// The observations that are to be played.
    pub observations: u64,
    /// What they can show at most.
    pub largest_epsilon: f64,
    /// The fewest that can show more than the claim; `None` where no number of them is known to.
    pub fewest_observations: Option<u64>,
}

impl OutOfReach {
    /// Whether the claim is; `None` if an outcome of the run can refute it.
    pub(crate) fn of(request: &RunRequest, claimed_epsilon: f64) -> Result<Option<Self>> {
        let (estimator, choice) = request.analysis.parse()?;
        if choice == ThresholdChoice::Sequential && Look::last_within(request.observations / 2).is_none() {
            // Refused for another reason.
            return Ok(None);
        }
        let (delta, significance) = (request.analysis.delta, request.analysis.significance);
        let largest = largest_epsilon(request.observations / 2, choice, estimator, delta, significance)?;
        let Some(largest_epsilon) = largest.filter(|&largest| largest <= claimed_epsilon) else {
            return Ok(None);
        };
        let fewest = fewest_trials_above(claimed_epsilon, choice, estimator, delta, significance)?;
        Ok(Some(OutOfReach {
            claimed_epsilon,
            observations: request.observations,
            largest_epsilon,
            fewest_observations: fewest.map(|trials| 2 * trials),
        }))
    }
}

/// Somebody who watches a job, and hears of a claim out of reach as soon as the job has begun: not of one that is refused.
pub(crate) struct Foretold<'a> {
    progress: &'a dyn Progress,
    claim: Option<OutOfReach>,
    begun: Once,
}

impl<'a> Foretold<'a> {
    pub fn new(progress: &'a dyn Progress, claim: Option<OutOfReach>) -> Self {
        Foretold { progress, claim, begun: Once::new() }
    }
}

impl Progress for Foretold<'_> {
    fn observed(&self, done: u64, total: u64) {
        self.begun.call_once(|| {
            if let Some(claim) = &self.claim {
                self.progress.cannot_refute(claim);
            }
        });
        self.progress.observed(done, total);
    }

    fn is_interrupted(&self) -> bool {
        self.progress.is_interrupted()
    }
}
