//! Runs trials and estimates epsilon, before any theory.
//!
//! # Why does every audit run here?
//! What plays trials is a `Player`: an engine of the mechanism, or a training. Stores, looks, claims, curves and
//! reports do not know which.

use crate::checkpoints::Checkpoints;
use crate::run::{ClaimedStore, OpenStore};
use crate::standing::Standing;
use crate::stopping::{Looked, SequentialRun, play_to_the_looks};
use crate::{Error, Progress, Result, RunOptions};
use misdeal_core::{ClosedSet, STREAM_NAME, ScoreStore, Setting};
use misdeal_game::Outcome;
use misdeal_results::EngineUsed;
use misdeal_statistics::{EpsilonEstimate, Look, ThresholdChoice};
use std::ops::Range;
use std::time::Instant;

/// Why no test holds for scores that are not known to be independent.
pub(crate) const NOT_INDEPENDENT: &str =
    "several canaries share a training, and that their scores are independent is not proven here";

/// Whoever can play trials into a store: a mechanism, or a training.
pub(crate) trait Player {
    /// What a store of its scores is keyed by.
    fn setting(&self) -> &Setting;

    /// The engine's name in reports.
    fn engine(&self) -> &'static str;

    /// The family of engines whose scores are the same, bit by bit.
    fn lineage(&self) -> &str;

    /// The random stream of its trials.
    fn stream(&self) -> &'static str {
        STREAM_NAME
    }

    /// Scores that one observation gives.
    fn scores_per_observation(&self) -> u64 {
        1
    }

    /// Whether all scores of a world are independent and alike, so that counting them bounds rates.
    fn scores_are_independent(&self) -> bool {
        true
    }

    /// Plays those of `trials` that `store` does not hold yet; with several scores an observation, both ends are multiples of
    /// their number.
    fn play(
        &self,
        store: &mut ScoreStore,
        trials: Range<u64>,
        checkpoints: &Checkpoints<'_>,
    ) -> Result<Outcome>;
}

/// What was measured, before any theory.
///
/// [`measure_mechanism`](crate::measure_mechanism) has an example.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Observations in both worlds together, earlier ones of a resumed store included.
    pub observations: u64,
    /// Whether the run ended before all observations were made.
    pub stopped_early: bool,
    /// What the scores show.
    pub estimate: EpsilonEstimate,
    /// What other tests of the scores may promise.
    pub(crate) standing: Standing,
    /// The engine that played.
    pub engine: EngineUsed,
    /// Time from the first draw to epsilon.
    pub seconds: f64,
    /// Observations played in this run, each second.
    pub observations_per_second: f64,
}

/// Plays and estimates a request that was checked, into the store that it names.
pub(crate) fn measure(
    player: &dyn Player,
    request: &RunOptions,
    place: ClaimedStore,
    progress: &dyn Progress,
) -> Result<(Measurement, ScoreStore)> {
    let store = place.open(empty_store(player, request)?)?;
    measure_from(player, request, store, progress)
}

/// A store for a player's scores.
pub(crate) fn empty_store(player: &dyn Player, request: &RunOptions) -> Result<ScoreStore> {
    Ok(ScoreStore::new(player.setting().clone(), player.lineage(), player.stream(), request.scores)?)
}

/// Plays what `store` does not hold yet, and estimates.
pub(crate) fn measure_from(
    player: &dyn Player,
    request: &RunOptions,
    OpenStore { mut store, claim }: OpenStore,
    progress: &dyn Progress,
) -> Result<(Measurement, ScoreStore)> {
    let choice = request.analysis.threshold_choice;
    let each = player.scores_per_observation();
    if choice == ThresholdChoice::Sequential && each > 1 {
        let hint = "a confidence sequence looks at single scores; use band, or one canary";
        let allowed = "hold-out, max or band with several canaries";
        return Err(misdeal_core::Error::bad_value("threshold_choice", choice.name(), allowed, hint).into());
    }
    let trials = request.trials();
    let trials = trials.start * each..trials.end * each;

    let start = Instant::now();
    let held = |store: &ScoreStore| 2 * store.observations_per_world() / each;
    let before = held(&store);
    let total = 2 * (trials.end - trials.start) / each;
    let checkpoints = Checkpoints::new(claim.as_ref(), progress, before, total).every(request.save_every);
    let planned = request.observations / 2 * each;
    let judged_before = store.judgements().clone();
    let mut objection = None;
    let looked = if choice == ThresholdChoice::Sequential {
        objection = store.judge_sequentially();
        let sequential_run = SequentialRun {
            player,
            analysis: &request.analysis,
            stop_when: request.stop_when,
            claim: request.claimed_epsilon,
            trials: trials.end,
        };
        play_to_the_looks(&sequential_run, &mut store, &checkpoints)?
    } else {
        let outcome = player.play(&mut store, trials, &checkpoints)?;
        Looked { outcome, estimate: None, stopped_early: false }
    };
    let observations = held(&store);
    let is_cancelled = looked.outcome == Outcome::Cancelled;
    if choice != ThresholdChoice::Sequential && !is_cancelled {
        objection = store.judge(planned);
    }
    // The store remembers the judgement before anybody hears of it.
    if observations > before || *store.judgements() != judged_before {
        checkpoints.save(&store)?;
    }
    if is_cancelled {
        return Err(Error::interrupted(observations, request.store.clone()));
    }
    let mut estimate = looked.estimate.map_or_else(|| request.analysis.of_store(&store), Ok)?;
    let standing = if !player.scores_are_independent() {
        Standing::Unproven(NOT_INDEPENDENT.into())
    } else if let Some(reason) = objection {
        Standing::Unproven(reason)
    } else if choice == ThresholdChoice::Sequential {
        Standing::at(Look::last_within(observations / 2))
    } else {
        Standing::ALONE
    };
    standing.mark(&mut estimate);
    let seconds = start.elapsed().as_secs_f64();
    let measurement = Measurement {
        observations,
        stopped_early: looked.stopped_early,
        estimate,
        standing,
        engine: EngineUsed::from_name(player.engine())?,
        seconds,
        observations_per_second: (observations - before) as f64 / seconds,
    };
    Ok((measurement, store))
}
