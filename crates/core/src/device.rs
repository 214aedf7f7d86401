//! Devices to compute on, and their arithmetic.

use crate::ClosedSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

/// The device that a job may use.
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
    JsonSchema,
    EnumString,
    IntoStaticStr,
    VariantArray,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Device {
    /// A CUDA device for long runs if there is one, otherwise the processor.
    #[default]
    Auto,
    /// The processor only.
    Cpu,
    /// A CUDA device only. If there is none, the job fails.
    Cuda,
}

impl ClosedSet for Device {
    const FIELD: &'static str = "device";
}

/// The arithmetic that trainings use.
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
    JsonSchema,
    EnumString,
    IntoStaticStr,
    VariantArray,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Precision {
    /// Single precision. On a CUDA device each factor is split into two parts of eleven bits, with errors like those of
    /// f32.
    #[default]
    F32,
    /// Factors rounded to eleven bits, on CUDA devices only. Three times as fast, with relative errors of about 1e-3.
    Tf32,
}

impl ClosedSet for Precision {
    const FIELD: &'static str = "precision";
}
