//! What is computed on, and with which arithmetic.

use crate::ClosedSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

/// What a job may compute on.
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
    /// A CUDA device for long runs, where there is one; else the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A CUDA device; an error where there is none.
    Cuda,
}

impl ClosedSet for Device {
    const FIELD: &'static str = "device";
}

/// The arithmetic of trainings.
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
    /// Single precision. On a CUDA device factors are split in two parts of eleven bits, with errors like those of f32.
    #[default]
    F32,
    /// Factors rounded to eleven bits, on a CUDA device alone: three times as fast, relative errors of about 1e-3.
    Tf32,
}

impl ClosedSet for Precision {
    const FIELD: &'static str = "precision";
}
