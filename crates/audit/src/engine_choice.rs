//! Which engine plays the mechanism: the processor's, or a graphics processor's.

use crate::{Result, RunRequest};
use misdeal_core::{PHILOX_STREAM_NAME, Setting, Stream};
use misdeal_cuda::Cuda;
use misdeal_files::stores;
use misdeal_game::Game;
use misdeal_game::engines::{self, Engine};

/// Gaussian draws in both worlds from which on `auto` asks for a graphics processor: with fewer, a processor is done before the
/// device is ready.
const LEAST_DRAWS_FOR_A_DEVICE: u64 = 1 << 35;

/// The processor's fastest engine that can play a game: what `--device cpu` asks for, where `cpu` as an engine is the fused one and no other.
const PROCESSOR: &str = "processor";

/// The engine's name for [`MechanismRequest`](crate::MechanismRequest), from one that is asked for by name, if any, and a device.
pub fn engine_on(device: &str, engine: Option<String>) -> String {
    engine.unwrap_or_else(|| if device == "cpu" { PROCESSOR.into() } else { device.into() })
}

/// Does a job with the engine called `name`. `auto` is the fastest there is; where no graphics processor can play, the
/// processor does, without a word. A store that is resumed goes on with the device that began it.
///
/// # Errors
/// An unknown name, an engine that cannot play this game here, or [`Device`](misdeal_core::Error::Device) where `cuda` is asked for by name and
/// there is none.
pub(crate) fn with_engine<T>(
    setting: &Setting,
    name: &str,
    run: &RunRequest,
    job: impl FnOnce(&Game, &dyn Engine) -> Result<T>,
) -> Result<T> {
    with_engine_on_trials_of(setting, setting, name, run, job)
}

/// As [`with_engine`], with the random bits of another setting: the same outputs, scored by another adversary. Such scores belong to no
/// setting, and are not to be kept.
pub(crate) fn with_engine_on_trials_of<T>(
    trials: &Setting,
    setting: &Setting,
    name: &str,
    run: &RunRequest,
    job: impl FnOnce(&Game, &dyn Engine) -> Result<T>,
) -> Result<T> {
    if name == "cuda" || name == "auto" && is_for_a_device(setting, run) {
        let game = Game::with_stream(setting, Stream::philox(&trials.hash()));
        match Cuda::new(&game) {
            Ok(engine) => return job(&game, &engine),
            Err(error) if name == "cuda" => return Err(error.into()),
            Err(_) => {}
        }
    }
    let game = Game::with_stream(setting, Stream::new(&trials.hash()));
    let engine = engines::choose(&game, if name == PROCESSOR { "auto" } else { name })?;
    job(&game, engine.as_ref())
}

/// Whether `auto` should look for a graphics processor.
fn is_for_a_device(setting: &Setting, run: &RunRequest) -> bool {
    if let Some(path) = run.store.as_ref().filter(|path| run.resume && path.exists()) {
        return stores::read(path).is_ok_and(|store| store.stream() == PHILOX_STREAM_NAME);
    }
    run.observations.saturating_mul(Game::new(setting).draws_per_trial()) >= LEAST_DRAWS_FOR_A_DEVICE
}
