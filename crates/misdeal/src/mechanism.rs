//! The audit of the batched Gaussian mechanism.

use crate::audit_report::audit;
use crate::buffer_search::{Blind, Rungs, audit_blindly};
use crate::engine_choice::{EngineChoice, with_engine, with_engine_on_trials_of};
use crate::measurement::{Measurement, Player, measure};
use crate::savings::Savings;
use crate::{Error, Progress, Result, RunOptions};
use misdeal_core::{BatchScheme, ScoreStore, Setting};
use misdeal_game::engines::Engine;
use misdeal_game::{Game, Outcome, play};
use misdeal_results::Audit;
use misdeal_results::request::AuditMechanismRequest;
use std::ops::Range;
use std::time::Instant;

/// An audit of the mechanism, ready to run.
#[derive(Debug, Clone)]
pub struct MechanismAudit {
    /// What is audited.
    pub setting: Setting,
    /// What plays.
    pub engine: EngineChoice,
    /// How much is played, and what becomes of it.
    pub run: RunOptions,
}

impl Default for MechanismAudit {
    /// The default audit: ten million observations of the default setting.
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
    /// Runs the audit: as [`audit_mechanism`].
    ///
    /// # Errors
    /// As [`audit_mechanism`].
    pub fn play(&self, progress: &dyn Progress) -> Result<Audit> {
        let Some(correction) = self.run.search_buffer else {
            return with_player(self, |player| audit(player, &self.run, progress));
        };
        self.run.check()?;
        let start = Instant::now();
        let setting = self.setting.clone().validated()?;
        let rungs = Rungs::new(setting.steps_per_epoch, self.run.analysis.significance, u64::MAX)?;
        let engine = with_engine(&setting, &self.engine, &self.run, |_, engine| Ok(engine.name()))?;
        let blind = BlindMechanism { setting, request: self, progress, engine };
        audit_blindly(&blind, &rungs, &self.run, correction, start)
    }
}

/// Plays the distinguishing game, estimates epsilon and sets it beside theory, on all cores of the current thread pool.
///
/// # Errors
/// A request that is refused (before anything is played or written), a store that cannot be read, written or continued,
/// or an interruption.
pub fn audit_mechanism(request: &AuditMechanismRequest, progress: &dyn Progress) -> Result<Audit> {
    MechanismAudit::try_from(request)?.play(progress)
}

/// Plays the same trials for every belief: they are cheaper to play again than to keep.
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
        with_engine_on_trials_of(&self.setting, &setting, engine, run, |game, engine| {
            let mut store =
                ScoreStore::new(setting.clone(), engine.lineage(), game.stream.name(), run.scores)?;
            let savings = Savings::new(None, self.progress, 0, run.observations);
            match play(game, engine, &mut store, run.trials(), &savings)? {
                Outcome::Finished => Ok(store),
                Outcome::Cancelled => Err(Error::simulation_interrupted()),
            }
        })
    }
}

/// Plays the distinguishing game and estimates epsilon.
///
/// # Errors
/// As [`audit_mechanism`].
pub fn measure_mechanism(request: &MechanismAudit, progress: &dyn Progress) -> Result<Measurement> {
    with_player(request, |player| Ok(measure(player, &request.run, progress)?.0))
}

/// Makes everything ready for a request, and refuses what cannot be played.
pub(crate) fn with_player<T>(
    request: &MechanismAudit,
    job: impl FnOnce(&dyn Player) -> Result<T>,
) -> Result<T> {
    let setting = request.setting.clone().validated()?;
    setting.check_is_played()?;
    with_engine(&setting, &request.engine, &request.run, |game, engine| {
        job(&MechanismPlayer { setting: &setting, game, engine })
    })
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

    fn play(&self, store: &mut ScoreStore, trials: Range<u64>, savings: &Savings<'_>) -> Result<Outcome> {
        play(self.game, self.engine, store, trials, savings)
    }
}
