//! Options that every audit has, of the mechanism or of training.

use crate::{Analysis, ClaimedCurve, Result, Shard, StopWhen};
use misdeal_core::{ClosedSet, Error, PHILOX_STREAM_NAME, ScoreStore, StoreKind, path_text};
use misdeal_files::stores::{self, Claim};
use misdeal_results::request::{Game, Run};
use misdeal_results::{Correction, Theory};
use misdeal_statistics::ThresholdChoice;
use std::ops::Range;
use std::path::PathBuf;

/// Largest number of observations of a run.
const MOST_OBSERVATIONS: u64 = 1 << 50;

/// Options of a run: the number of observations, their analysis and their store.
///
/// ```
/// use misdeal::{MechanismAudit, RunOptions, StoreKind};
/// let run = RunOptions { scores: StoreKind::Exact, ..RunOptions::new(10_000) };
/// let audit = MechanismAudit { run, ..MechanismAudit::default() };
/// assert_eq!(audit.run.observations, 10_000);
/// ```
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Observations in both worlds together, half in each. An observation is an output of a mechanism, or a trained model.
    pub observations: u64,
    /// How epsilon is estimated from scores.
    pub analysis: Analysis,
    /// A second analysis of the same scores, if wanted.
    pub second_analysis: Option<Analysis>,
    /// What the store keeps of each score.
    pub scores: StoreKind,
    /// What stops the run early. Allowed only with the threshold choice `sequential`.
    pub stop_when: Option<StopWhen>,
    /// The epsilon to test. The default is the upper bound for Poisson sampling.
    pub claimed_epsilon: Option<f64>,
    /// The whole curve to test. If neither a curve nor an epsilon is claimed, the curve of Poisson sampling is tested.
    pub claimed_curve: Option<ClaimedCurve>,
    /// Whether to report the observed trade-off curve beside the promised ones.
    pub trade_off: bool,
    /// The file in which the scores are saved.
    pub store: Option<PathBuf>,
    /// The least time between two checkpoints, in seconds.
    pub save_every: f64,
    /// Whether to resume from `store`.
    pub resume: bool,
    /// The part of the run to play.
    pub shard: Shard,
    /// How to correct for guesses, if the adversary guesses the buffer.
    pub search_buffer: Option<Correction>,
    /// Theory's bounds for the setting by scheme, if already known. Otherwise they are computed.
    pub theory: Option<Theory>,
    /// Records in the training data, if stated. Poisson's rate is then batch_size / dataset_size.
    pub dataset_size: Option<u64>,
}

impl RunOptions {
    /// Returns the options of a whole run with this many observations and the default analysis.
    ///
    /// # Panics
    /// Never: the defaults are allowed.
    pub fn new(observations: u64) -> Self {
        Self::of(observations, &Analysis::default(), &Run::default(), &Game::default())
            .expect("defaults are allowed")
    }

    /// Returns the run that a request asks for.
    ///
    /// # Errors
    /// A shard, a stopping rule or a curve cannot be read.
    pub(crate) fn of(observations: u64, analysis: &Analysis, run: &Run, game: &Game) -> Result<Self> {
        let claimed_curve = run.claimed_curve.as_deref().map(ClaimedCurve::parse).transpose()?;
        let correction = if game.uncorrected { Correction::None } else { Correction::Bonferroni };
        Ok(RunOptions {
            observations,
            analysis: analysis.clone(),
            second_analysis: None,
            scores: run.scores,
            stop_when: run.stop_when.as_deref().map(StopWhen::parse).transpose()?,
            claimed_epsilon: run.claimed_epsilon,
            trade_off: run.trade_off || claimed_curve.is_some(),
            claimed_curve,
            store: run.store.clone(),
            save_every: run.save_every,
            resume: run.resume,
            shard: run.shard.as_deref().map_or(Ok(Shard::WHOLE), Shard::parse)?,
            search_buffer: game.search_buffer.then_some(correction),
            theory: None,
            dataset_size: None,
        })
    }

    /// Returns the range of trials to play in each world.
    pub(crate) fn trials(&self) -> Range<u64> {
        self.shard.trials(self.observations / 2)
    }

    /// Records in a store of this run's scores that the scores were judged.
    ///
    /// # Errors
    /// The threshold choice is unknown.
    pub fn record_judgement(&self, store: &mut ScoreStore) -> Result<()> {
        match self.analysis.parse()?.1 {
            ThresholdChoice::Sequential => store.judge_sequentially(),
            _ => store.judge(self.observations / 2),
        };
        Ok(())
    }

    /// Checks all options before anything is played, and returns the threshold choice.
    ///
    /// # Errors
    /// A field is refused. The message names the first such field.
    pub fn check(&self) -> Result<ThresholdChoice> {
        let (_, choice) = self.analysis.parse()?;
        self.second_analysis.as_ref().map_or(Ok(()), |analysis| analysis.parse().map(|_| ()))?;
        check_claim(self.claimed_epsilon)?;
        self.check_observations()?;
        self.check_shard()?;
        self.check_save_every()?;
        let trials = self.trials();
        crate::memory::check(self.scores, 2 * (trials.end - trials.start))?;
        let sequential = choice == ThresholdChoice::Sequential;
        if self.stop_when.is_some() && !sequential {
            let hint = "a bound that holds whenever a run is stopped is a confidence sequence";
            let allowed = "a stop with `threshold_choice` sequential";
            return Err(Error::bad_value("stop_when", "given", allowed, hint).into());
        }
        if sequential && self.shard != Shard::WHOLE {
            let hint = "a confidence sequence looks at the first trials on, so that it cannot be split";
            return Err(Error::bad_value("shard", self.shard, "the whole run, 1/1", hint).into());
        }
        if self.search_buffer.is_some() {
            self.check_search(choice)?;
        }
        Ok(choice)
    }

    /// Checks a search for the buffer. A search scores all observations for every guess and stores nothing.
    fn check_search(&self, choice: ThresholdChoice) -> Result<()> {
        let refused = |field, value: String, allowed: &str| {
            let hint = "an adversary that guesses the buffer scores all observations once for each guess, and keeps none";
            Err(Error::bad_value(field, value, allowed, hint).into())
        };
        if let Some(path) = &self.store {
            return refused("store", path_text(path).into_owned(), "no store with `search_buffer`");
        }
        if self.shard != Shard::WHOLE {
            return refused("shard", self.shard.to_string(), "the whole run with `search_buffer`, 1/1");
        }
        if choice == ThresholdChoice::Sequential {
            return refused(
                "threshold_choice",
                choice.name().into(),
                "hold-out, max or band with `search_buffer`",
            );
        }
        Ok(())
    }

    fn check_observations(&self) -> Result<()> {
        if self.observations.is_multiple_of(2) && (8..=MOST_OBSERVATIONS).contains(&self.observations) {
            return Ok(());
        }
        let allowed = format!("an even number from 8 to {MOST_OBSERVATIONS}");
        let hint = "half of the observations are made in each world";
        Err(Error::bad_value("observations", self.observations, allowed, hint).into())
    }

    fn check_save_every(&self) -> Result<()> {
        if (0.01..=86_400.0).contains(&self.save_every) {
            return Ok(());
        }
        let hint = "seconds; saving never takes more than a twentieth of the time, however often";
        Err(Error::bad_value("save_every", self.save_every, "a number from 0.01 to 86400", hint).into())
    }

    /// Checks that a part can be estimated by itself: hold-out needs two even and two odd trials.
    fn check_shard(&self) -> Result<()> {
        const FEWEST: u64 = 4;
        let trials = self.trials();
        if trials.end - trials.start >= FEWEST {
            return Ok(());
        }
        let allowed = format!("I/N with N at most {}", self.observations / 2 / FEWEST);
        let hint = format!("a part needs at least {} of the {} observations", 2 * FEWEST, self.observations);
        Err(Error::bad_value("shard", self.shard, allowed, hint).into())
    }

    /// Claims the store's file until the run ends, and reads its content once.
    pub(crate) fn claim_store(&self) -> Result<ClaimedStore> {
        let Some(path) = &self.store else {
            if self.resume {
                let hint = "say with `store` which file to go on from";
                return Err(Error::bad_value("resume", "given", "`resume` with `store`", hint).into());
            }
            return Ok(ClaimedStore::default());
        };
        let claim = Claim::on(path)?;
        if !path.exists() {
            return Ok(ClaimedStore { claim: Some(claim), held: None });
        }
        if !self.resume {
            let hint = "give `resume` to go on from it, or another name";
            let allowed = "the name of a new file";
            return Err(Error::bad_value("store", path_text(path), allowed, hint).into());
        }
        Ok(ClaimedStore { claim: Some(claim), held: Some((path.clone(), stores::read(path)?)) })
    }
}

/// The file of a run's scores, with its content before the run.
#[derive(Debug, Default)]
pub(crate) struct ClaimedStore {
    claim: Option<Claim>,
    held: Option<(PathBuf, ScoreStore)>,
}

impl ClaimedStore {
    /// Returns whether a graphics processor began the run; `None` if the run is new.
    pub fn is_of_a_device(&self) -> Option<bool> {
        self.held.as_ref().map(|(_, held)| held.stream() == PHILOX_STREAM_NAME)
    }

    /// Returns an empty store, or one with the content of the file.
    ///
    /// # Errors
    /// The file holds scores of another setting or engine.
    pub fn open(self, mut store: ScoreStore) -> Result<OpenStore> {
        if let Some((path, held)) = self.held {
            store.merge(held).map_err(|error| misdeal_files::Error::refused(&path, error))?;
        }
        Ok(OpenStore { store, claim: self.claim })
    }
}

/// A store that is being filled, and the claim on its file, if it has one.
#[derive(Debug)]
pub(crate) struct OpenStore {
    pub store: ScoreStore,
    pub claim: Option<Claim>,
}

/// Refuses an epsilon that cannot be a claim: negative or not finite.
pub(crate) fn check_claim(claim: Option<f64>) -> misdeal_core::Result<()> {
    match claim {
        Some(claim) if !(claim.is_finite() && claim >= 0.0) => {
            let hint = "it is the epsilon that the model's documentation states";
            Err(Error::bad_value("claimed_epsilon", claim, "a finite number from 0", hint))
        }
        _ => Ok(()),
    }
}
