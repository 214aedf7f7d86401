//! When a run may end before all observations are made, and a run that looks again and again.

use crate::checkpoints::Checkpoints;
use crate::measurement::Player;
use crate::{Analysis, Result};
use misdeal_core::{Error, ScoreStore};
use misdeal_game::Outcome;
use misdeal_statistics::{EpsilonEstimate, Look};

/// What ends a run of the threshold choice `sequential` early.
///
/// [`is_decided`](crate::is_decided) has an example.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopWhen {
    /// The estimate exceeds the claim; only a valid one refutes it.
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

/// How a run that looks came to its end.
pub(crate) struct Looked {
    pub outcome: Outcome,
    /// The estimate at the last look; nothing if the run was cancelled before.
    pub estimate: Option<EpsilonEstimate>,
    /// Whether `stop_when` ended it, before the last look that there was room for.
    pub stopped_early: bool,
}

/// What to play, until when.
pub(crate) struct SequentialRun<'a> {
    pub player: &'a dyn Player,
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
