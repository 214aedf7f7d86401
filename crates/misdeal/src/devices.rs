//! The devices that this machine can compute on.

use misdeal_core::{ClosedSet, Device, EngineName, Setting};
use misdeal_cuda::gpus;
use misdeal_game::{Game, engines};
use misdeal_results::{Devices, EngineUsed, FoundDevice};

/// Returns all devices and engines that can compute here.
///
/// ```
/// assert!(!misdeal::devices().devices.is_empty());
/// ```
pub fn devices() -> Devices {
    let game = Game::new(&Setting::default());
    let chosen =
        engines::choose(&game, EngineName::Auto).and_then(|engine| EngineUsed::from_name(engine.name()));
    let processor = FoundDevice {
        device: Device::Cpu,
        name: std::env::consts::ARCH.into(),
        engine: chosen.unwrap_or(EngineUsed::Reference),
        cores: Some(rayon::current_num_threads() as u64),
        memory_bytes: None,
    };
    let mut devices = vec![processor];
    let mut cuda_missing = None;
    match gpus() {
        Err(error) => cuda_missing = Some(error.to_string()),
        Ok(found) => devices.extend(found.into_iter().map(|one| FoundDevice {
            device: Device::Cuda,
            name: format!("{}, compute capability {}", one.name, one.compute_capability),
            engine: EngineUsed::Cuda,
            cores: None,
            memory_bytes: Some(one.memory_bytes),
        })),
    }
    Devices { devices, cuda_missing }
}
