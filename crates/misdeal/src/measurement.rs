//! Runs trials and estimates epsilon. Theory comes later.
//!
//! # Why does every audit run here?
//! A `Player` plays the trials. It is an engine of the mechanism, or a training. Stores, looks, claims, curves and reports work
//! the same for both.

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

/// The reason why no test is valid for scores that may depend on each other.
pub(crate) const NOT_INDEPENDENT: &str =
    "several canaries share a training, and nothing proves that their scores are independent here";

/// A source of trials: plays trials of a mechanism or a training into a store.
pub(crate) trait Player {
    /// Returns the setting under which its scores are stored.
    fn setting(&self) -> &Setting;

    /// Returns the engine's name in reports.
    fn engine(&self) -> &'static str;

    /// Returns the family of engines whose scores are the same, bit for bit.
    fn lineage(&self) -> &str;

    /// Returns the name of the random stream of its trials.
    fn stream(&self) -> &'static str {
        STREAM_NAME
    }

    /// Returns the number of scores in one observation.
    fn scores_per_observation(&self) -> u64 {
        1
    }

    /// Returns whether all scores of a world are independent and identically distributed. Only then do counts of scores bound
    /// rates.
    fn scores_are_independent(&self) -> bool {
        true
    }

    /// Plays those of `trials` that `store` does not hold yet.
    ///
    /// If an observation has several scores, both ends of the range are multiples of their number.
    fn play(
        &self,
        store: &mut ScoreStore,
        trials: Range<u64>,
        checkpoints: &Checkpoints<'_>,
    ) -> Result<Outcome>;
}

/// The result of a run, before any theory.
///
/// [`measure_mechanism`](crate::measure_mechanism) has an example.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Observations in both worlds together, including those of a resumed store.
    pub observations: u64,
    /// Whether the run ended before all observations were made.
    pub stopped_early: bool,
    /// The epsilon estimated from the scores.
    pub estimate: EpsilonEstimate,
    /// How much significance other tests of the scores may spend.
    pub(crate) standing: Standing,
    /// The engine that played the trials.
    pub engine: EngineUsed,
    /// Seconds from the first draw to the estimate.
    pub seconds: f64,
    /// Observations per second in this run.
    pub observations_per_second: f64,
}

/// Runs a checked request into the store that it names, and estimates epsilon.
pub(crate) fn measure(
    player: &dyn Player,
    request: &RunOptions,
    place: ClaimedStore,
    progress: &dyn Progress,
) -> Result<(Measurement, ScoreStore)> {
    let store = place.open(empty_store(player, request)?)?;
    measure_from(player, request, store, progress)
}

/// Returns an empty store for a player's scores.
pub(crate) fn empty_store(player: &dyn Player, request: &RunOptions) -> Result<ScoreStore> {
    Ok(ScoreStore::new(player.setting().clone(), player.lineage(), player.stream(), request.scores)?)
}

/// Plays the trials that `store` does not hold yet, and estimates epsilon.
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
