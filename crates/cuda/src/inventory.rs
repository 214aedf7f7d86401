//! Which graphics processors there are.

use crate::libraries;
use cudarc::driver::CudaContext;
use misdeal_core::{Error, Result};

/// A graphics processor.
#[derive(Debug, Clone, PartialEq)]
pub struct Inventory {
    /// What its maker calls it.
    pub name: String,
    /// The compute capability, as in `9.0`.
    pub compute_capability: String,
    /// Bytes of memory.
    pub memory_bytes: u64,
}

/// All graphics processors that the driver sees, if the driver and the compiler of kernels are there.
///
/// # Errors
/// [`Error::Device`] says what is missing.
pub fn inventory() -> Result<Vec<Inventory>> {
    libraries::open().map_err(Error::Device)?;
    let told = |error: cudarc::driver::DriverError| Error::Device(format!("no CUDA device: {error}"));
    let count = CudaContext::device_count().map_err(told)?;
    if count < 1 {
        return Err(Error::Device("no CUDA device: the driver sees none".into()));
    }
    let device = |ordinal: i32| {
        let context = CudaContext::new(ordinal as usize).map_err(told)?;
        let (major, minor) = context.compute_capability().map_err(told)?;
        Ok(Inventory {
            name: context.name().map_err(told)?,
            compute_capability: format!("{major}.{minor}"),
            memory_bytes: context.total_mem().map_err(told)? as u64,
        })
    };
    (0..count).map(device).collect()
}
