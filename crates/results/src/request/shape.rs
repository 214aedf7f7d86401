//! The shape of a run.

use super::{count, default_of_flags};
use clap::Args;
use misdeal_core::Setting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Batches and epochs.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShapeRequest {
    /// Batches in an epoch
    #[arg(long, allow_hyphen_values = true, default_value = "100", value_parser = count, value_name = "T")]
    pub steps_per_epoch: u64,
    /// Passes over the data
    #[arg(long, allow_hyphen_values = true, default_value = "1", value_parser = count, value_name = "E")]
    pub epochs: u64,
    /// Records in a batch
    #[arg(long, allow_hyphen_values = true, default_value = "100", value_parser = count, value_name = "B")]
    pub batch_size: u64,
    /// Records in the buffer of partial-shuffle and stream-shuffle
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "K")]
    pub buffer_size: Option<u64>,
}

default_of_flags!(ShapeRequest);

impl ShapeRequest {
    /// The default setting with this shape. The buffer belongs to the scheme.
    pub fn setting(&self) -> Setting {
        let &ShapeRequest { steps_per_epoch, epochs, batch_size, .. } = self;
        Setting { steps_per_epoch, epochs, batch_size, ..Setting::default() }
    }
}
