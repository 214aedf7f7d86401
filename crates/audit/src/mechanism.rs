//! The audit of the batched Gaussian mechanism.

use crate::savings::Savings;
use crate::stopping::{Looked, Plan, play_to_the_looks};
use crate::trade_off::{Observed, trade_off_report};
use crate::{Analysis, Error, Progress, Result, SCHEMA_VERSION, Shard, StopWhen, TradeOffReport, promised};
use misdeal_core::estimate::Descriptive;
use misdeal_core::{
    BatchScheme, Bounds, EpsilonEstimate, STREAM_NAME, ScoreStore, Setting, StoreKind, ThresholdChoice,
};
use misdeal_files::atomic::check_place;
use misdeal_files::stores;
use misdeal_game::{Game, Outcome, engines, play};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

/// The most observations a run may have.
const MOST_OBSERVATIONS: u64 = 1 << 50;

/// What to audit, and how.
#[derive(Debug, Clone)]
pub struct MechanismRequest {
    /// What is audited.
    pub setting: Setting,
    /// Observations in both worlds together, half in each.
    pub observations: u64,
    /// How scores become an epsilon.
    pub analysis: Analysis,
    /// What is kept of a score.
    pub scores: StoreKind,
    /// The engine's name, or `auto`.
    pub engine: String,
    /// What ends a sequential run early.
    pub stop_when: Option<StopWhen>,
    /// The claim to test; the upper bound for Poisson sampling if none is given.
    pub claimed_epsilon: Option<f64>,
    /// Whether to give the trade-off curve too, beside those that are promised.
    pub trade_off: bool,
    /// Where the scores are saved.
    pub store: Option<PathBuf>,
    /// Whether to go on from what `store` holds.
    pub resume: bool,
    /// The part of the run to do.
    pub shard: Shard,
}

impl Default for MechanismRequest {
    /// The default audit: ten million observations of the default setting.
    fn default() -> Self {
        MechanismRequest {
            setting: Setting::default(),
            observations: 10_000_000,
            analysis: Analysis::default(),
            scores: StoreKind::Counts,
            engine: "auto".into(),
            stop_when: None,
            claimed_epsilon: None,
            trade_off: false,
            store: None,
            resume: false,
            shard: Shard::WHOLE,
        }
    }
}

/// What an audit of the mechanism found.
#[derive(Debug, Clone, Serialize)]
pub struct MechanismReport {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    /// What was audited.
    pub setting: Setting,
    /// Observations in both worlds together.
    pub observations: u64,
    /// Whether the run ended before all observations were made, because that was reached which it was to stop at.
    pub stopped_early: bool,
    /// The seed of all randomness.
    pub seed: u64,
    /// What the scores show.
    #[serde(flatten)]
    pub estimate: EpsilonEstimate,
    /// How well the scores tell the worlds apart.
    pub descriptive: Descriptive,
    /// The claim that was tested.
    pub claimed_epsilon: Option<f64>,
    /// Whether the estimate exceeds the claim; `None` where there is none.
    pub violated: Option<bool>,
    /// What theory says, by scheme.
    pub theory: BTreeMap<&'static str, Bounds>,
    /// The trade-off curve beside those that are promised, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trade_off: Option<TradeOffReport>,
    /// What is kept of a score.
    pub scores: StoreKind,
    /// The engine that played.
    pub engine: &'static str,
    /// Time from the first draw to epsilon.
    pub seconds: f64,
    /// Observations played in this run, each second.
    pub observations_per_second: f64,
    /// Where the scores were saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<PathBuf>,
}

impl MechanismReport {
    /// Whether the claim is the one that Poisson sampling would justify.
    pub fn claims_poisson(&self) -> bool {
        let poisson = self.theory.get(BatchScheme::Poisson.name());
        poisson.is_some_and(|bounds| bounds.epsilon_upper_bound == self.claimed_epsilon)
    }

    /// Whether a bound that holds as stated refutes the claim.
    pub fn refutes_the_claim(&self) -> bool {
        self.estimate.valid && self.violated == Some(true)
    }
}

/// What was measured, before any theory.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Observations in both worlds together, earlier ones of a resumed store included.
    pub observations: u64,
    /// Whether the run ended before all observations were made.
    pub stopped_early: bool,
    /// What the scores show.
    pub estimate: EpsilonEstimate,
    /// The engine that played.
    pub engine: &'static str,
    /// Time from the first draw to epsilon.
    pub seconds: f64,
    /// Observations played in this run, each second.
    pub observations_per_second: f64,
}

/// Plays the distinguishing game, estimates epsilon and sets it beside theory, on all cores of the current thread pool.
///
/// # Errors
/// A request that is refused (before anything is played or written), a store that cannot be read, written or continued,
/// or an interruption.
pub fn audit_mechanism(request: &MechanismRequest, progress: &dyn Progress) -> Result<MechanismReport> {
    check_claim(request.claimed_epsilon)?;
    let poisson = |theory: &BTreeMap<&str, Bounds>| {
        theory.get(BatchScheme::Poisson.name()).and_then(|bounds| bounds.epsilon_upper_bound)
    };
    // A run that stops when its claim is refuted must know the claim.
    let mut theory = None;
    let mut request = Cow::Borrowed(request);
    if request.stop_when == Some(StopWhen::Violated) && request.claimed_epsilon.is_none() {
        check_request(&request)?;
        let promised = promised(&request.setting, request.analysis.delta);
        request.to_mut().claimed_epsilon = poisson(&promised);
        theory = Some(promised);
    }
    let (measurement, store) = measure_and_keep(&request, progress)?;
    let Measurement { observations, stopped_early, estimate, engine, seconds, observations_per_second } =
        measurement;
    let theory = theory.unwrap_or_else(|| promised(&request.setting, request.analysis.delta));
    let claimed_epsilon = request.claimed_epsilon.or(poisson(&theory));
    let Analysis { delta, significance, .. } = request.analysis;
    let trade_off = request.trade_off.then(|| {
        let setting = Some(&request.setting);
        trade_off_report(&Observed::Store(&store), setting, claimed_epsilon, delta, significance)
    });
    Ok(MechanismReport {
        schema_version: SCHEMA_VERSION,
        command: "audit mechanism",
        version: env!("CARGO_PKG_VERSION"),
        setting: request.setting.clone(),
        observations,
        stopped_early,
        seed: request.setting.seed,
        claimed_epsilon,
        violated: claimed_epsilon.map(|claim| estimate.empirical_epsilon > claim),
        estimate,
        descriptive: store.describe()?,
        theory,
        trade_off: trade_off.transpose()?,
        scores: request.scores,
        engine,
        seconds,
        observations_per_second,
        store: request.store.clone(),
    })
}

/// Plays the distinguishing game and estimates epsilon.
///
/// # Errors
/// As [`audit_mechanism`].
pub fn measure_mechanism(request: &MechanismRequest, progress: &dyn Progress) -> Result<Measurement> {
    Ok(measure_and_keep(request, progress)?.0)
}

/// As [`measure_mechanism`], with the scores.
fn measure_and_keep(
    request: &MechanismRequest,
    progress: &dyn Progress,
) -> Result<(Measurement, ScoreStore)> {
    let setting = request.setting.clone().validated()?;
    let choice = check_request(request)?;
    let trials = request.shard.trials(request.observations / 2);
    let game = Game::new(&setting);
    let engine = engines::choose(&game, &request.engine)?;
    let mut store = open_store(request, &setting, engine.lineage())?;

    let start = Instant::now();
    let before = 2 * store.observations_per_world();
    let savings = Savings::new(request.store.as_deref(), progress, before, 2 * (trials.end - trials.start));
    let looked = if choice == ThresholdChoice::Sequential {
        let (analysis, stop_when, claim) = (&request.analysis, request.stop_when, request.claimed_epsilon);
        let plan =
            Plan { game: &game, engine: engine.as_ref(), analysis, stop_when, claim, trials: trials.end };
        play_to_the_looks(&plan, &mut store, &savings)?
    } else {
        let outcome = play(&game, engine.as_ref(), &mut store, trials, &savings)?;
        Looked { outcome, estimate: None, stopped_early: false }
    };
    let observations = 2 * store.observations_per_world();
    if observations > before {
        savings.save(&store)?;
    }
    if looked.outcome == Outcome::Cancelled {
        return Err(Error::Interrupted { observations, store: request.store.clone() });
    }
    let estimate = looked.estimate.map_or_else(|| request.analysis.of_store(&store), Ok)?;
    let seconds = start.elapsed().as_secs_f64();
    let observations_per_second = (observations - before) as f64 / seconds;
    let measurement = Measurement {
        observations,
        stopped_early: looked.stopped_early,
        estimate,
        engine: engine.name(),
        seconds,
        observations_per_second,
    };
    Ok((measurement, store))
}

/// Refuses what can be refused before anything is played; the threshold choice otherwise.
fn check_request(request: &MechanismRequest) -> Result<ThresholdChoice> {
    let (_, choice) = request.analysis.parse()?;
    check_observations(request.observations)?;
    check_shard(request, &request.shard.trials(request.observations / 2))?;
    let sequential = choice == ThresholdChoice::Sequential;
    if request.stop_when.is_some() && !sequential {
        let hint = "a bound that holds whenever a run is stopped is a confidence sequence";
        let allowed = "a stop with --threshold-choice sequential";
        return Err(misdeal_core::Error::bad_value("stop_when", "given", allowed, hint).into());
    }
    if sequential && request.shard != Shard::WHOLE {
        let hint = "a confidence sequence looks at the first trials on, so that it cannot be split";
        return Err(misdeal_core::Error::bad_value("shard", request.shard, "the whole run, 1/1", hint).into());
    }
    Ok(choice)
}

fn check_observations(observations: u64) -> Result<()> {
    if observations.is_multiple_of(2) && (8..=MOST_OBSERVATIONS).contains(&observations) {
        return Ok(());
    }
    let allowed = format!("an even number from 8 to {MOST_OBSERVATIONS}");
    let hint = "half of the observations are made in each world";
    Err(misdeal_core::Error::bad_value("observations", observations, allowed, hint).into())
}

/// Every part can be estimated by itself: hold-out needs two even and two odd trials.
fn check_shard(request: &MechanismRequest, trials: &Range<u64>) -> Result<()> {
    const FEWEST: u64 = 4;
    if trials.end - trials.start >= FEWEST {
        return Ok(());
    }
    let allowed = format!("I/N with N at most {}", request.observations / 2 / FEWEST);
    let hint = format!("a part needs at least {} of the {} observations", 2 * FEWEST, request.observations);
    Err(misdeal_core::Error::bad_value("shard", request.shard, allowed, hint).into())
}

pub(crate) fn check_claim(claim: Option<f64>) -> Result<()> {
    match claim {
        Some(claim) if !(claim.is_finite() && claim >= 0.0) => {
            let hint = "it is the epsilon that the model's documentation states";
            Err(misdeal_core::Error::bad_value("claimed_epsilon", claim, "a finite number from 0", hint)
                .into())
        }
        _ => Ok(()),
    }
}

/// A new store, or the one to go on from.
fn open_store(request: &MechanismRequest, setting: &Setting, lineage: &str) -> Result<ScoreStore> {
    let mut store = ScoreStore::new(setting.clone(), lineage, STREAM_NAME, request.scores)?;
    match &request.store {
        None if request.resume => {
            let hint = "say with --store which file to go on from";
            return Err(
                misdeal_core::Error::bad_value("resume", "given", "--resume with --store", hint).into()
            );
        }
        Some(path) if path.exists() => {
            if !request.resume {
                let hint = "give --resume to go on from it, or another name";
                let allowed = "the name of a new file";
                return Err(misdeal_core::Error::bad_value("store", path.display(), allowed, hint).into());
            }
            let held = stores::read(path)?;
            store.merge(held).map_err(|error| misdeal_files::Error::refused(path, error))?;
        }
        Some(path) => check_place(path)?,
        None => {}
    }
    Ok(store)
}
