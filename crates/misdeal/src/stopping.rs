//! Runs that look at the scores repeatedly, and rules to stop them early.

use crate::checkpoints::Checkpoints;
use crate::measurement::Player;
use crate::{Analysis, Result};
use misdeal_core::{Error, ScoreStore};
use misdeal_game::Outcome;
use misdeal_statistics::{EpsilonEstimate, Look};

/// The rule that stops a run of the threshold choice `sequential` early.
///
/// [`is_decided`](crate::is_decided) has an example.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopWhen {
    /// Stops when the estimate exceeds the claim. Only a valid estimate refutes the claim.
    Violated,
    /// Stops when the raw epsilon is at most this far above the bound.
    Width(f64),
}

impl StopWhen {
    /// Reads `violated` or `width=X`.
    ///
    /// # Errors
    /// The text is neither.
    pub fn parse(text: &str) -> Result<Self> {
        if text == "violated" {
            return Ok(Self::Violated);
        }
        let width = text.strip_prefix("width=").and_then(|width| width.parse::<f64>().ok());
        width.filter(|width| width.is_finite() && *width > 0.0).map(Self::Width).ok_or_else(|| {
            let hint = "violated stops when the claim is refuted, width=0.5 when the bound is that near to the raw epsilon";
            Error::bad_value("stop_when", text, "violated, or width=X with X above 0", hint).into()
        })
    }

    pub(crate) fn is_reached(self, estimate: &EpsilonEstimate, claim: Option<f64>) -> bool {
        match self {
            Self::Violated => claim.is_some_and(|claim| estimate.exceeds(claim)),
            Self::Width(width) => *estimate.raw_epsilon - *estimate.empirical_epsilon <= width,
        }
    }
}

/// The result of a run with looks.
pub(crate) struct Looked {
    pub outcome: Outcome,
    /// The estimate at the last look; `None` if the run was cancelled before.
    pub estimate: Option<EpsilonEstimate>,
    /// Whether `stop_when` ended the run before the last possible look.
    pub stopped_early: bool,
}

/// What to play, and when to stop.
pub(crate) struct SequentialRun<'a> {
    pub player: &'a dyn Player,
    pub analysis: &'a Analysis,
    pub stop_when: Option<StopWhen>,
    pub claim: Option<f64>,
    /// Largest number of trials in each world.
    pub trials: u64,
}

/// Plays up to each look of a confidence sequence in turn. Stops when `stop_when` is met or no further look fits.
///
/// A look needs exactly the trials before it. If the store has already passed a look, that look is left out, because its bound can
/// no longer be computed. The result is the same on any number of threads, and after any interruption.
///
/// # Errors
/// There are fewer trials than the first look needs, the store is past the last look, or playing fails.
pub(crate) fn play_to_the_looks(
    sequential_run: &SequentialRun<'_>,
    store: &mut ScoreStore,
    checkpoints: &Checkpoints<'_>,
) -> Result<Looked> {
    let end = store.trials().last().map_or(0, |range| range.end);
    let looks: Vec<_> = Look::all().take_while(|look| look.trials() <= sequential_run.trials).collect();
    let ahead: Vec<_> = looks.iter().filter(|look| look.trials() >= end).collect();
    if ahead.is_empty() {
        let (whose, hint) = if looks.is_empty() {
            ("the threshold choice sequential", "it begins to look there")
        } else {
            ("this store", "its trials go beyond the last look that fits in")
        };
        let next = Look::all().find(|look| look.trials() >= end).map_or(0, Look::trials);
        let allowed = format!("at least {} for {whose}", 2 * next);
        return Err(Error::bad_value("observations", 2 * sequential_run.trials, allowed, hint).into());
    }
    let mut found = Looked { outcome: Outcome::Finished, estimate: None, stopped_early: false };
    for (i, look) in ahead.iter().enumerate() {
        found.outcome = sequential_run.player.play(store, 0..look.trials(), checkpoints)?;
        if found.outcome == Outcome::Cancelled {
            break;
        }
        let estimate = sequential_run.analysis.of_store(store)?;
        let reached =
            sequential_run.stop_when.is_some_and(|when| when.is_reached(&estimate, sequential_run.claim));
        found.estimate = Some(estimate);
        if reached {
            found.stopped_early = i + 1 < ahead.len();
            break;
        }
    }
    Ok(found)
}
