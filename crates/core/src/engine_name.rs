//! Names of the engines that run the mechanism.

use crate::ClosedSet;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

/// An engine that runs the mechanism, or a rule for choosing one.
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
    /// The fastest engine that can run the game on this machine.
    #[default]
    Auto,
    /// Computes observations and likelihood ratios in f64, in slow and simple code.
    Reference,
    /// The fastest instruction set of this processor.
    Cpu,
    /// The processor's AVX-512 instructions.
    CpuAvx512,
    /// The processor's AVX2 instructions.
    CpuAvx2,
    /// Portable code without special instructions.
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
