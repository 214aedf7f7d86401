//! Checks of this machine.

use super::{device, request};
use clap::Args;
use misdeal_core::Device;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `self-test` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SelfTestRequest {
    /// What to test; auto is the processor, and CUDA devices where there are any
    #[arg(long, default_value = "auto", value_parser = device(), value_name = "NAME")]
    pub device: Device,
    /// Seed of the checks that draw at random; any seed does.
    #[arg(skip)]
    pub seed: u64,
}

request!(SelfTestRequest, "self-test");
