//! When a run may end before all observations are made, and a run that looks again and again.

use crate::savings::Savings;
use crate::{Analysis, Result};
use misdeal_core::estimate::Look;
use misdeal_core::{EpsilonEstimate, Error, ScoreStore};
use misdeal_game::engines::Engine;
use misdeal_game::{Game, Outcome, play};

/// What ends a run of the threshold choice `sequential` early.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopWhen {
    /// The bound exceeds the claim.
    Violated,
    /// The raw epsilon exceeds the bound by this at most.
    Width(f64),
}

impl StopWhen {
    /// Reads `violated` or `width=X`.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(text: &str) -> Result<Self> {
        if text == "violated" {
            return Ok(Self::Violated);
        }
        let width = text.strip_prefix("width=").and_then(|width| width.parse::<f64>().ok());
        if let Some(width) = width.filter(|width| width.is_finite() && *width > 0.0) {
            return Ok(Self::Width(width));
        }
        let hint = "violated stops when the claim is refuted, width=0.5 when the bound is that near to the raw epsilon";
        Err(Error::bad_value("stop_when", text, "violated, or width=X with X above 0", hint).into())
    }

    fn is_reached(self, estimate: &EpsilonEstimate, claim: Option<f64>) -> bool {
        match self {
            Self::Violated => claim.is_some_and(|claim| estimate.empirical_epsilon > claim),
            Self::Width(width) => {
                estimate.raw_epsilon.is_some_and(|raw| raw - estimate.empirical_epsilon <= width)
            }
        }
    }
}

/// How a run that looks came to its end.
pub(crate) struct Looked {
    pub outcome: Outcome,
    /// The estimate at the last look; nothing if the run was cancelled before.
    pub estimate: Option<EpsilonEstimate>,
    /// Whether `stop_when` ended it, before the last look that there was room for.
    pub stopped_early: bool,
}

/// What to play, until when.
pub(crate) struct Plan<'a> {
    pub game: &'a Game,
    pub engine: &'a dyn Engine,
    pub analysis: &'a Analysis,
    pub stop_when: Option<StopWhen>,
    pub claim: Option<f64>,
    /// Trials of either world at most.
    pub trials: u64,
}

/// Plays up to each look of a confidence sequence in turn, and stops when that is reached or no further look fits in.
///
/// A look is at exactly the trials before it, so that one which the store has passed already is left out: its bound could not be
/// told any more. What is found is the same on any number of threads, and after any interruption.
///
/// # Errors
/// Fewer trials than the first look takes, a store that is past the last look, or what playing may run into.
pub(crate) fn play_to_the_looks(
    plan: &Plan<'_>,
    store: &mut ScoreStore,
    savings: &Savings<'_>,
) -> Result<Looked> {
    let end = store.trials().last().map_or(0, |range| range.end);
    let looks: Vec<_> = Look::all().take_while(|look| look.trials() <= plan.trials).collect();
    let ahead: Vec<_> = looks.iter().filter(|look| look.trials() >= end).collect();
    if ahead.is_empty() {
        let enough = |trials: u64| Look::all().find(|look| look.trials() >= trials).map_or(0, Look::trials);
        let (allowed, hint) = if looks.is_empty() {
            let first = format!("at least {} for the threshold choice sequential", 2 * enough(0));
            (first, "it begins to look there")
        } else {
            let next = format!("at least {} for this store", 2 * enough(end));
            (next, "its trials go beyond the last look that fits in")
        };
        return Err(Error::bad_value("observations", 2 * plan.trials, allowed, hint).into());
    }
    let mut found = Looked { outcome: Outcome::Finished, estimate: None, stopped_early: false };
    for (i, look) in ahead.iter().enumerate() {
        found.outcome = play(plan.game, plan.engine, store, 0..look.trials(), savings)?;
        if found.outcome == Outcome::Cancelled {
            break;
        }
        let estimate = plan.analysis.of_store(store)?;
        let reached = plan.stop_when.is_some_and(|when| when.is_reached(&estimate, plan.claim));
        found.estimate = Some(estimate);
        if reached {
            found.stopped_early = i + 1 < ahead.len();
            break;
        }
    }
    Ok(found)
}
