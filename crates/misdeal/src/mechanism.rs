//! The audit of the batched Gaussian mechanism.

use crate::audit_report::{AuditReport, audit};
use crate::buffer_search::{Blind, Rungs, audit_blindly};
use crate::engine_choice::{EngineChoice, with_engine, with_engine_on_trials_of};
use crate::measurement::{Measurement, Player, measure};
use crate::savings::Savings;
use crate::{Error, Progress, Result, RunRequest};
use misdeal_core::{BatchScheme, ScoreStore, Setting};
use misdeal_game::engines::Engine;
use misdeal_game::{Game, Outcome, play};
use std::ops::Range;
use std::time::Instant;

/// What to audit, and how.
#[derive(Debug, Clone)]
pub struct MechanismRequest {
    /// What is audited.
    pub setting: Setting,
    /// What plays.
    pub engine: EngineChoice,
    /// How much is played, and what becomes of it.
    pub run: RunRequest,
}

impl Default for MechanismRequest {
    /// The default audit: ten million observations of the default setting.
    fn default() -> Self {
        MechanismRequest {
            setting: Setting::default(),
            engine: EngineChoice::default(),
            run: RunRequest::new(10_000_000),
        }
    }
}

/// Plays the distinguishing game, estimates epsilon and sets it beside theory, on all cores of the current thread pool.
///
/// # Errors
/// A request that is refused (before anything is played or written), a store that cannot be read, written or continued,
/// or an interruption.
pub fn audit_mechanism(request: &MechanismRequest, progress: &dyn Progress) -> Result<AuditReport> {
    const COMMAND: &str = "audit mechanism";
    let Some(correction) = request.run.search_buffer else {
        return with_player(request, |player| audit(COMMAND, player, &request.run, progress));
    };
    request.run.check()?;
    let start = Instant::now();
    let setting = request.setting.clone().validated()?;
    let rungs = Rungs::new(setting.steps_per_epoch, request.run.analysis.significance, u64::MAX)?;
    let engine = with_engine(&setting, &request.engine, &request.run, |_, engine| Ok(engine.name()))?;
    let blind = BlindMechanism { setting, request, progress, engine };
    audit_blindly(COMMAND, &blind, &rungs, &request.run, correction, start)
}

/// Plays the same trials for every belief: they are cheaper to play again than to keep.
struct BlindMechanism<'a> {
    setting: Setting,
    request: &'a MechanismRequest,
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
        let MechanismRequest { engine, run, .. } = self.request;
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
pub fn measure_mechanism(request: &MechanismRequest, progress: &dyn Progress) -> Result<Measurement> {
    with_player(request, |player| Ok(measure(player, &request.run, progress)?.0))
}

/// Makes everything ready for a request, and refuses what cannot be played.
pub(crate) fn with_player<T>(
    request: &MechanismRequest,
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
