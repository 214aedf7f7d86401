//! Audits of the batched Gaussian mechanism.

use crate::audit_report::audit;
use crate::buffer_search::{Blind, Rungs, audit_blindly};
use crate::checkpoints::Checkpoints;
use crate::engine_choice::{EngineChoice, is_long, with_engine, with_engine_on_trials_of};
use crate::measurement::{Measurement, Player, measure};
use crate::{Error, Progress, Result, RunOptions};
use misdeal_core::{BatchScheme, ScoreStore, Setting};
use misdeal_game::engines::Engine;
use misdeal_game::{Game, Outcome, play};
use misdeal_results::Audit;
use misdeal_results::request::{AuditMechanismRequest, AuditRequest};
use std::ops::Range;
use std::time::Instant;

/// An audit of the mechanism, ready to run.
///
/// Create it with [`Setting::audit`](crate::Setting::audit). [`run`](Self::run) has an example.
#[derive(Debug, Clone)]
pub struct MechanismAudit {
    /// The audited setting.
    pub setting: Setting,
    /// The engine that plays.
    pub engine: EngineChoice,
    /// The number of observations, their analysis and their store.
    pub run: RunOptions,
}

impl Default for MechanismAudit {
    /// Returns the default audit: ten million observations of the default setting.
    fn default() -> Self {
        MechanismAudit {
            setting: Setting::default(),
            engine: EngineChoice::default(),
            run: RunOptions::new(10_000_000),
        }
    }
}

impl TryFrom<&AuditMechanismRequest> for MechanismAudit {
    type Error = Error;

    fn try_from(request: &AuditMechanismRequest) -> Result<Self> {
        let AuditMechanismRequest { game, observations, analysis, run, .. } = request;
        Ok(MechanismAudit {
            setting: request.setting()?,
            engine: EngineChoice { device: run.device, engine: request.engine.clone() },
            run: RunOptions {
                dataset_size: request.shape.dataset_size,
                ..RunOptions::of(*observations, analysis, run, game)?
            },
        })
    }
}

impl MechanismAudit {
    /// Runs the audit like [`audit_mechanism`].
    ///
    /// # Errors
    /// The same as for [`audit_mechanism`].
    pub fn play(&self, progress: &dyn Progress) -> Result<Audit> {
        let setting = self.checked_setting()?;
        self.run.check()?;
        let Some(correction) = self.run.search_buffer else {
            let place = self.run.claim_store()?;
            let begun = place.is_of_a_device();
            return self.with_player_of(&setting, begun, |player| audit(player, &self.run, place, progress));
        };
        let start = Instant::now();
        let rungs = Rungs::new(setting.steps_per_epoch, self.run.analysis.significance, u64::MAX)?;
        let engine =
            with_engine(&setting, &self.engine, self.run.observations, None, |_, engine| Ok(engine.name()))?;
        let blind = BlindMechanism { setting, request: self, progress, engine };
        audit_blindly(&blind, &rungs, &self.run, correction, start)
    }

    /// Returns the validated setting, if games can be played under it.
    fn checked_setting(&self) -> Result<Setting> {
        let setting = self.setting.clone().validated()?;
        setting.check_is_played()?;
        Ok(setting)
    }

    fn with_player_of<T>(
        &self,
        setting: &Setting,
        begun_on_device: Option<bool>,
        job: impl FnOnce(&dyn Player) -> Result<T>,
    ) -> Result<T> {
        with_engine(setting, &self.engine, self.run.observations, begun_on_device, |game, engine| {
            job(&MechanismPlayer { setting, game, engine })
        })
    }
}

/// Plays the distinguishing game, estimates epsilon and compares it with theory. Uses all cores of the current thread pool.
///
/// ```
/// use misdeal::{Unwatched, audit_mechanism, request::AuditMechanismRequest};
/// let request = AuditMechanismRequest { observations: 10_000, ..AuditMechanismRequest::default() };
/// assert_eq!(audit_mechanism(&request, &Unwatched)?.observations, 10_000);
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// The request is refused before anything is played or written. A store cannot be read, written or continued. The run is
/// interrupted.
pub fn audit_mechanism(request: &AuditMechanismRequest, progress: &dyn Progress) -> Result<Audit> {
    let audit = MechanismAudit::try_from(request)?.play(progress)?;
    Ok(Audit { request: Some(AuditRequest::Mechanism(request.clone().into())), ..audit })
}

/// Plays the same trials again for every belief, which costs less than keeping them.
struct BlindMechanism<'a> {
    setting: Setting,
    request: &'a MechanismAudit,
    progress: &'a dyn Progress,
    engine: &'static str,
}

impl Blind for BlindMechanism<'_> {
    fn setting(&self) -> &Setting {
        &self.setting
    }

    fn engine(&self) -> &'static str {
        self.engine
    }

    fn scored(&self, belief: BatchScheme) -> Result<ScoreStore> {
        let MechanismAudit { engine, run, .. } = self.request;
        let setting = Setting { adversary_scheme: Some(belief), ..self.setting.clone() };
        let is_for_a_device = || is_long(&setting, run.observations);
        with_engine_on_trials_of(&self.setting, &setting, engine, is_for_a_device, |game, engine| {
            let mut store =
                ScoreStore::new(setting.clone(), engine.lineage(), game.stream.name(), run.scores)?;
            let checkpoints = Checkpoints::new(None, self.progress, 0, run.observations);
            match play(game, engine, &mut store, run.trials(), &checkpoints)? {
                Outcome::Finished => Ok(store),
                Outcome::Cancelled => Err(Error::simulation_interrupted()),
            }
        })
    }
}

/// Plays the distinguishing game and estimates epsilon, without theory.
///
/// ```
/// use misdeal::{Setting, Unwatched, measure_mechanism};
/// let measured = measure_mechanism(&Setting::new(1.0).audit().observations(10_000), &Unwatched)?;
/// assert!(measured.estimate.valid);
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// The same as for [`audit_mechanism`].
pub fn measure_mechanism(request: &MechanismAudit, progress: &dyn Progress) -> Result<Measurement> {
    let setting = request.checked_setting()?;
    request.run.check()?;
    let place = request.run.claim_store()?;
    let begun = place.is_of_a_device();
    request.with_player_of(&setting, begun, |player| Ok(measure(player, &request.run, place, progress)?.0))
}

/// Prepares a player and runs `job` with it. Refuses a request that cannot be played. No store holds the trials yet.
pub(crate) fn with_player<T>(
    request: &MechanismAudit,
    job: impl FnOnce(&dyn Player) -> Result<T>,
) -> Result<T> {
    request.with_player_of(&request.checked_setting()?, None, job)
}

struct MechanismPlayer<'a> {
    setting: &'a Setting,
    game: &'a Game,
    engine: &'a dyn Engine,
}

impl Player for MechanismPlayer<'_> {
    fn setting(&self) -> &Setting {
        self.setting
    }

    fn engine(&self) -> &'static str {
        self.engine.name()
    }

    fn lineage(&self) -> &str {
        self.engine.lineage()
    }

    fn stream(&self) -> &'static str {
        self.game.stream.name()
    }

    fn play(
        &self,
        store: &mut ScoreStore,
        trials: Range<u64>,
        checkpoints: &Checkpoints<'_>,
    ) -> Result<Outcome> {
        play(self.game, self.engine, store, trials, checkpoints)
    }
}
