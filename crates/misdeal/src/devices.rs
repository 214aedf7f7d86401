//! What there is to compute on.

use crate::SCHEMA_VERSION;
use misdeal_core::{EngineName, Setting};
use misdeal_cuda::gpus;
use misdeal_game::{Game, engines};
use serde::Serialize;

/// What there is to compute on, and what is missing.
#[derive(Debug, Clone, Serialize)]
pub struct DevicesReport {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    /// The processor first, then graphics processors.
    pub devices: Vec<DeviceReport>,
    /// Why there is no graphics processor to use, if there is none.
    pub cuda_missing: Option<String>,
}

/// One device.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceReport {
    /// What `--device` calls it.
    pub device: &'static str,
    /// What it is.
    pub name: String,
    /// The engine that plays the default game there.
    pub engine: &'static str,
    /// Cores of a processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<usize>,
    /// Bytes of a graphics processor's memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// Looks for everything that can compute here.
pub fn devices() -> DevicesReport {
    let game = Game::new(&Setting::default());
    let engine = engines::choose(&game, EngineName::Auto).map_or("reference", |engine| engine.name());
    let processor = DeviceReport {
        device: "cpu",
        name: std::env::consts::ARCH.into(),
        engine,
        cores: Some(rayon::current_num_threads()),
        memory_bytes: None,
    };
    let mut devices = vec![processor];
    let mut cuda_missing = None;
    match gpus() {
        Err(error) => cuda_missing = Some(error.to_string()),
        Ok(found) => devices.extend(found.into_iter().map(|one| DeviceReport {
            device: "cuda",
            name: format!("{}, compute capability {}", one.name, one.compute_capability),
            engine: "cuda",
            cores: None,
            memory_bytes: Some(one.memory_bytes),
        })),
    }
    DevicesReport {
        schema_version: SCHEMA_VERSION,
        command: "devices",
        version: env!("CARGO_PKG_VERSION"),
        devices,
        cuda_missing,
    }
}
