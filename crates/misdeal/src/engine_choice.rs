//! Chooses the engine that runs the mechanism, on a processor or a graphics processor.

use crate::Result;
use misdeal_core::{ClosedSet, Device, EngineName, Setting, Stream};
use misdeal_cuda::Cuda;
use misdeal_game::Game;
use misdeal_game::engines::{self, Engine};

/// Fewest Gaussian draws, in both worlds, for which `auto` asks for a graphics processor. With fewer draws, a processor finishes
/// before the device is ready.
const LEAST_DRAWS_FOR_A_DEVICE: u64 = 1 << 35;

/// The engine that a request asks for: a named engine, or the fastest on a device.
///
/// ```
/// use misdeal::{Device, EngineChoice};
/// assert_eq!(EngineChoice::on(Device::Cpu).device, Device::Cpu);
/// assert_eq!(EngineChoice::named("reference").engine.as_deref(), Some("reference"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineChoice {
    /// The device to use if no engine is named.
    pub device: Device,
    /// The engine's name.
    pub engine: Option<String>,
}

impl EngineChoice {
    /// Chooses the engine called `name`.
    pub fn named(name: impl Into<String>) -> Self {
        EngineChoice { engine: Some(name.into()), ..Self::default() }
    }

    /// Chooses the fastest engine on a device.
    pub fn on(device: Device) -> Self {
        EngineChoice { device, engine: None }
    }

    /// Returns whether only a graphics processor is allowed.
    pub(crate) fn is_cuda(&self) -> bool {
        self.engine.as_deref().map_or(self.device == Device::Cuda, |name| name == CUDA)
    }

    /// Returns whether a graphics processor may run a long job.
    fn may_be_cuda(&self) -> bool {
        self.engine.as_deref().map_or(self.device == Device::Auto, |name| name == AUTO)
    }
}

/// The name of the engine for graphics processors.
const CUDA: &str = "cuda";

/// The name that selects the fastest engine.
const AUTO: &str = "auto";

/// Runs a job with the chosen engine.
///
/// If no engine is named and no graphics processor can run the job, the processor runs it without a message. A resumed run
/// continues on the kind of device that began it: a graphics processor if `begun_on_device` is true.
///
/// # Errors
/// The name is unknown, or the engine cannot play this game here. [`Device`](misdeal_core::Error::Device) if `cuda` is named and
/// there is none.
pub(crate) fn with_engine<T>(
    setting: &Setting,
    choice: &EngineChoice,
    observations: u64,
    begun_on_device: Option<bool>,
    job: impl FnOnce(&Game, &dyn Engine) -> Result<T>,
) -> Result<T> {
    let is_for_a_device = || begun_on_device.unwrap_or_else(|| is_long(setting, observations));
    with_engine_on_trials_of(setting, setting, choice, is_for_a_device, job)
}

/// Like [`with_engine`], with the random bits of the setting `trials`.
///
/// The outputs are those of `trials`, scored by another adversary. Such scores belong to no setting, so do not store them.
pub(crate) fn with_engine_on_trials_of<T>(
    trials: &Setting,
    setting: &Setting,
    choice: &EngineChoice,
    is_for_a_device: impl FnOnce() -> bool,
    job: impl FnOnce(&Game, &dyn Engine) -> Result<T>,
) -> Result<T> {
    if choice.is_cuda() || choice.may_be_cuda() && is_for_a_device() {
        let game = Game::with_stream(setting, Stream::philox(&trials.hash()));
        match Cuda::new(&game) {
            Ok(engine) => return job(&game, &engine),
            Err(error) if choice.is_cuda() => return Err(error.into()),
            Err(_) => {}
        }
    }
    let game = Game::with_stream(setting, Stream::new(&trials.hash()));
    let engine = engines::choose(&game, EngineName::from_name(choice.engine.as_deref().unwrap_or(AUTO))?)?;
    job(&game, engine.as_ref())
}

/// Returns whether a run is so long that `auto` should look for a graphics processor.
pub(crate) fn is_long(setting: &Setting, observations: u64) -> bool {
    observations.saturating_mul(Game::new(setting).draws_per_trial()) >= LEAST_DRAWS_FOR_A_DEVICE
}
