//! The GPUs of this machine.

use crate::{CudaError, Result, libraries};
use cudarc::driver::CudaContext;

/// A GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuInfo {
    /// The vendor's name for the GPU.
    pub name: String,
    /// The compute capability, as in `9.0`.
    pub compute_capability: String,
    /// Bytes of memory.
    pub memory_bytes: u64,
}

/// Lists the GPUs that the driver sees.
///
/// # Errors
/// The driver or the compiler is missing, or there is no device.
pub fn gpus() -> Result<Vec<GpuInfo>> {
    let info = |ordinal: usize| {
        let context = CudaContext::new(ordinal).map_err(CudaError::NotListed)?;
        let (major, minor) = context.compute_capability().map_err(CudaError::NotListed)?;
        Ok(GpuInfo {
            name: context.name().map_err(CudaError::NotListed)?,
            compute_capability: format!("{major}.{minor}"),
            memory_bytes: context.total_mem().map_err(CudaError::NotListed)? as u64,
        })
    };
    (0..gpu_count()?).map(info).collect()
}

/// Counts the GPUs; returns an error if there are none.
pub(crate) fn gpu_count() -> Result<usize> {
    libraries::open()?;
    match CudaContext::device_count().map_err(CudaError::NotListed)? {
        count if count < 1 => Err(CudaError::NoDevice),
        count => Ok(count as usize),
    }
}
