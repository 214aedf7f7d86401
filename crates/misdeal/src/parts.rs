//! Plays parts of a mechanism's audit on any machine, and audits all parts together.
//!
//! # Why ranges of trials, and not shards of a plan?
//! A cluster splits a run at its looks, so no part crosses one. If looks count, the cluster merges the parts in order. The verdict
//! comes from the merged store, by the same code as on one machine. A lost part can be played again. The store refuses a part that
//! comes twice.

use crate::audit_report::audit_from;
use crate::checkpoints::Checkpoints;
use crate::measurement::{Player, empty_store};
use crate::mechanism::with_player;
use crate::promised::poisson_claim;
use crate::run::OpenStore;
use crate::{Error, MechanismAudit, Progress, Result};
use misdeal_core::{PHILOX_STREAM_NAME, ScoreStore, Setting};
use misdeal_files::stores::Claim;
use misdeal_game::{Outcome, missing_trials};
use misdeal_results::Audit;
use std::ops::Range;

/// Plays the given trials of a run into a store of their own.
///
/// A trial is the same on every machine. So the stores of parts merge to the store of the whole run, bit for bit, in any order.
/// Name the engine: `auto` may choose another one on another machine, and stores of different engines do not merge.
///
/// ```
/// use misdeal::{Setting, Unwatched, audit_played, play_part};
/// let audit = Setting::new(1.0).audit().observations(20_000);
/// let mut played = play_part(&audit, 0..4_000, &Unwatched)?;
/// played.merge(play_part(&audit, 4_000..10_000, &Unwatched)?)?;
/// assert_eq!(audit_played(&audit, played, &Unwatched)?.observations, 20_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The request is refused, the trials are not in the run, or the run is interrupted.
pub fn play_part(
    request: &MechanismAudit,
    trials: Range<u64>,
    progress: &dyn Progress,
) -> Result<ScoreStore> {
    request.run.check()?;
    let most = request.run.observations / 2;
    if trials.start >= trials.end || trials.end > most {
        let (value, allowed) =
            (format!("{} to {}", trials.start, trials.end), format!("a part of 0 to {most}"));
        let hint = "half of the observations are trials of either world";
        return Err(misdeal_core::Error::bad_value("trials", value, allowed, hint).into());
    }
    with_player(request, |player| {
        let mut store = empty_store(player, &request.run)?;
        let checkpoints = Checkpoints::new(None, progress, 0, 2 * (trials.end - trials.start));
        match player.play(&mut store, trials.clone(), &checkpoints)? {
            Outcome::Finished => Ok(store),
            Outcome::Cancelled => {
                let observations = 2 * store.observations_per_world();
                Err(Error::interrupted(observations, None))
            }
        }
    })
}

/// Returns the audit of a run from the trials in `played`. Missing trials are played here.
///
/// If `cuda` played all trials, this machine needs no device. So a machine without a GPU can collect the parts.
///
/// [`play_part`] has an example.
///
/// # Errors
/// The same as for [`audit_mechanism`](crate::audit_mechanism). Also, the store has another setting, engine or kind.
pub fn audit_played(request: &MechanismAudit, played: ScoreStore, progress: &dyn Progress) -> Result<Audit> {
    request.run.check()?;
    let judge = |player: &dyn Player| {
        let mut store = empty_store(player, &request.run)?;
        store.merge(played)?;
        let claim = request.run.store.as_deref().map(Claim::on).transpose()?;
        audit_from(player, &request.run, OpenStore { store, claim }, progress)
    };
    if request.engine.is_cuda() {
        let setting = request.setting.clone().validated()?;
        return judge(&PlayedOnDevices { setting, request });
    }
    with_player(request, judge)
}

/// The name of the engine for graphics processors, which is also its lineage.
const CUDA: &str = "cuda";

/// Trials that graphics processors played elsewhere. A device is needed only if trials are missing.
struct PlayedOnDevices<'a> {
    setting: Setting,
    request: &'a MechanismAudit,
}

impl Player for PlayedOnDevices<'_> {
    fn setting(&self) -> &Setting {
        &self.setting
    }

    fn engine(&self) -> &'static str {
        CUDA
    }

    fn lineage(&self) -> &str {
        CUDA
    }

    fn stream(&self) -> &'static str {
        PHILOX_STREAM_NAME
    }

    fn play(
        &self,
        store: &mut ScoreStore,
        trials: Range<u64>,
        checkpoints: &Checkpoints<'_>,
    ) -> Result<Outcome> {
        if missing_trials(trials.clone(), store.trials()).is_empty() {
            return Ok(Outcome::Finished);
        }
        with_player(self.request, |player| player.play(store, trials, checkpoints))
    }
}

/// Returns whether a run with `stop_when` stops at the trials in `played`. These must be the trials of a look, from the first on.
///
/// ```
/// use misdeal::{Setting, StopWhen, ThresholdChoice, Unwatched, is_decided, play_part};
/// let mut audit = Setting::new(1.0).audit().threshold_choice(ThresholdChoice::Sequential);
/// audit.run.stop_when = Some(StopWhen::Violated);
/// assert!(!is_decided(&audit, &play_part(&audit, 0..500, &Unwatched)?)?);
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// The same as for [`audit_mechanism`](crate::audit_mechanism). Also, there are too few trials for a look.
pub fn is_decided(request: &MechanismAudit, played: &ScoreStore) -> Result<bool> {
    request.run.check()?;
    let Some(when) = request.run.stop_when else { return Ok(false) };
    let analysis = &request.run.analysis;
    let claim = request.run.claimed_epsilon.or_else(|| poisson_claim(&request.setting, analysis.delta));
    Ok(when.is_reached(&analysis.of_store(played)?, claim))
}

/// Refuses a request that cannot be played, before any trial runs.
///
/// ```
/// use misdeal::{Setting, check_mechanism};
/// assert!(check_mechanism(&Setting::new(1.0).audit().observations(3)).is_err_and(|error| error.is_bad_value()));
/// ```
///
/// # Errors
/// The same as for [`audit_mechanism`](crate::audit_mechanism).
pub fn check_mechanism(request: &MechanismAudit) -> Result<()> {
    request.run.check()?;
    request.setting.clone().validated()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineChoice;
    use crate::{RunOptions, StopWhen, Unwatched};
    use misdeal_core::{Device, EngineName, Stream};
    use misdeal_game::{Game, engines};
    use misdeal_results::EngineUsed;
    use misdeal_statistics::ThresholdChoice;

    fn same(ours: &Audit, theirs: &Audit) {
        assert_eq!(ours.estimate, theirs.estimate);
        assert_eq!((ours.observations, ours.stopped_early), (theirs.observations, theirs.stopped_early));
    }

    #[test]
    fn parts_in_any_order_make_the_whole() {
        let request = MechanismAudit { run: RunOptions::new(40_000), ..MechanismAudit::default() };
        let part = |trials| play_part(&request, trials, &Unwatched).unwrap();
        let mut store = part(15_000..20_000);
        store.merge(part(0..7_001)).unwrap();
        store.merge(part(7_001..15_000)).unwrap();
        let whole = request.play(&Unwatched).unwrap();
        same(&audit_played(&request, store, &Unwatched).unwrap(), &whole);
        assert!(play_part(&request, 19_999..20_001, &Unwatched).is_err());
        assert!(play_part(&request, 5..5, &Unwatched).is_err());
    }

    /// Uses scores of the reference engine on the device's stream in place of a device's scores. Both agree within the engine's
    /// tolerance.
    #[test]
    fn trials_of_devices_are_judged_where_there_is_none() {
        let run = RunOptions { claimed_epsilon: Some(1.0), ..RunOptions::new(4_000) };
        let request =
            MechanismAudit { engine: EngineChoice::on(Device::Cuda), run, ..MechanismAudit::default() };
        let game = Game::with_stream(&request.setting, Stream::philox(&request.setting.hash()));
        let engine = engines::choose(&game, EngineName::Reference).unwrap();
        let played = |trials| {
            let setting = request.setting.clone();
            let mut store = ScoreStore::new(setting, CUDA, PHILOX_STREAM_NAME, request.run.scores).unwrap();
            engine.insert(trials, &mut store).unwrap();
            store
        };
        let found = audit_played(&request, played(0..2_000), &Unwatched).unwrap();
        assert_eq!((found.engine, found.observations), (EngineUsed::Cuda, 4_000));
        assert_eq!(found.estimate, request.run.analysis.of_store(&played(0..2_000)).unwrap());
        if misdeal_cuda::gpus().is_err() {
            let missing = audit_played(&request, played(0..1_999), &Unwatched).unwrap_err();
            assert!(missing.to_string().contains("CUDA"), "{missing}");
        }
        let other = play_part(
            &MechanismAudit { engine: EngineChoice::default(), ..request.clone() },
            0..2_000,
            &Unwatched,
        );
        assert!(
            audit_played(&request, other.unwrap(), &Unwatched).is_err(),
            "a processor's trials are others"
        );
    }

    #[test]
    fn a_run_that_stops_early_stops_at_the_same_look() {
        let mut run = RunOptions::new(1_000_000);
        run.analysis.threshold_choice = ThresholdChoice::Sequential;
        run.stop_when = Some(StopWhen::Violated);
        let request = MechanismAudit { run, ..MechanismAudit::default() };
        let whole = request.play(&Unwatched).unwrap();
        assert!(whole.stopped_early);
        let played = play_part(&request, 0..whole.observations / 2, &Unwatched).unwrap();
        assert!(is_decided(&request, &played).unwrap());
        assert!(!is_decided(&request, &play_part(&request, 0..500, &Unwatched).unwrap()).unwrap());
        same(&audit_played(&request, played, &Unwatched).unwrap(), &whole);
    }
}
