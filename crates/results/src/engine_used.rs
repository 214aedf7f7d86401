//! [`EngineUsed`]: the engine that computed a result.

use misdeal_core::{ClosedSet, Device};

misdeal_core::closed_set! {
    "engine",
    /// What played a mechanism or trained models.
    pub enum EngineUsed {
        /// The mechanism, slow and obvious.
        Reference,
        /// The mechanism on a processor, by portable code.
        CpuPortable,
        /// The mechanism on a processor, by AVX2 and FMA.
        CpuAvx2,
        /// The mechanism on a processor, by AVX-512.
        CpuAvx512,
        /// The mechanism on CUDA devices.
        Cuda,
        /// Trainings on processors.
        TrainCpu,
        /// Trainings on CUDA devices, with errors like those of f32.
        TrainCuda,
        /// Trainings on CUDA devices in tf32.
        TrainCudaTf32,
    }
}

impl EngineUsed {
    /// Returns the device that the engine computes on.
    pub fn device(self) -> Device {
        match self {
            Self::Cuda | Self::TrainCuda | Self::TrainCudaTf32 => Device::Cuda,
            _ => Device::Cpu,
        }
    }

    /// Returns the engine's family, as `--engine` names it.
    ///
    /// All engines of a family give the same numbers.
    pub fn family(self) -> &'static str {
        match self {
            Self::CpuPortable | Self::CpuAvx2 | Self::CpuAvx512 => "cpu",
            other => other.name(),
        }
    }
}
