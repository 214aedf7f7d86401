//! Devices that misdeal can compute on, and checks of this machine's results.

use crate::EngineUsed;
use crate::request::{self, SelfTestRequest};
use misdeal_core::Device;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What there is to compute on, and what is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Devices {
    /// The processor first, then graphics processors.
    pub devices: Vec<FoundDevice>,
    /// Why there is no graphics processor to use, if there is none.
    pub cuda_missing: Option<String>,
}

/// One device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FoundDevice {
    /// What `--device` calls it.
    pub device: Device,
    /// What it is.
    pub name: String,
    /// The engine that plays the default game there.
    pub engine: EngineUsed,
    /// Threads of a processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u64>,
    /// Bytes of a graphics processor's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// Checks of this machine's results against known values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfTest {
    /// What was asked for; absent in older documents.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "request::if_known")]
    pub request: Option<SelfTestRequest>,
    /// Whether every check passed.
    pub passed: bool,
    /// The checks, in the order in which data meets what they check.
    pub checks: Vec<Check>,
    /// Why checks of a graphics processor were left out, if they were.
    pub cuda_missing: Option<String>,
    /// Time of all checks together.
    pub seconds: f64,
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Check {
    /// What is checked.
    pub name: String,
    /// Whether it is right.
    pub passed: bool,
    /// What was seen, or what is wrong.
    pub detail: String,
    /// Time that it took.
    pub seconds: f64,
}
