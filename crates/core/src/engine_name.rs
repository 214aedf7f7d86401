//! What can play the mechanism, by name.

use crate::ClosedSet;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

/// An engine that plays the mechanism, or how to choose one.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum EngineName {
    /// The fastest that can play the game here.
    #[default]
    Auto,
    /// Observation and likelihood ratio in f64, slow and obvious.
    Reference,
    /// The fastest set of instructions of this processor.
    Cpu,
    /// AVX-512 instructions.
    CpuAvx512,
    /// AVX2 instructions.
    CpuAvx2,
    /// No special instructions.
    CpuPortable,
    /// A CUDA device.
    Cuda,
}

impl ClosedSet for EngineName {
    const FIELD: &'static str = "engine";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_in_use() {
        let names = ["auto", "reference", "cpu", "cpu-avx512", "cpu-avx2", "cpu-portable", "cuda"];
        assert_eq!(EngineName::names(), names);
    }
}
