//! Engines that computed a result.

use misdeal_core::{ClosedSet, Device};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

/// What played a mechanism or trained models.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    EnumString,
    IntoStaticStr,
    VariantArray,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
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

impl ClosedSet for EngineUsed {
    const FIELD: &'static str = "engine";
}

impl EngineUsed {
    /// What it computes on.
    pub fn device(self) -> Device {
        match self {
            Self::Cuda | Self::TrainCuda | Self::TrainCudaTf32 => Device::Cuda,
            _ => Device::Cpu,
        }
    }

    /// As `--engine` takes it: within a family all engines give the same numbers.
    pub fn family(self) -> &'static str {
        match self {
            Self::CpuPortable | Self::CpuAvx2 | Self::CpuAvx512 => "cpu",
            other => other.name(),
        }
    }
}

impl fmt::Display for EngineUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
