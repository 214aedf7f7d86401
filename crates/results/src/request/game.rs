//! The game of an audit.

use super::{count, default_of_flags};
use clap::Args;
use clap::builder::PossibleValuesParser;
use misdeal_core::{Adjacency, BatchScheme, Error, Result, Setting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Batches, the target and its adversary.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Game {
    /// How batches are made
    #[arg(long, default_value = "shuffle", value_parser = PossibleValuesParser::new(BatchScheme::NAMES), value_name = "NAME")]
    pub scheme: String,
    /// The target's position in the file
    #[arg(long, allow_hyphen_values = true, default_value = "0", value_parser = count, value_name = "I")]
    pub target_index: u64,
    /// The scheme whose likelihood ratio scores the outputs, if not the one that runs
    #[arg(long, value_parser = PossibleValuesParser::new(BatchScheme::NAMES), value_name = "NAME")]
    pub adversary_scheme: Option<String>,
    /// Records in the buffer that the adversary's scheme assumes; the real buffer if not given
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "K")]
    pub adversary_buffer_size: Option<u64>,
    /// Let an adversary that does not know the buffer guess its size: the paper's guesses, then bisection, levels corrected so that the
    /// largest bound is valid
    #[arg(long, conflicts_with = "adversary_buffer_size")]
    pub search_buffer: bool,
    /// Take the largest of the guesses as the paper does, without correcting the level (not a valid bound)
    #[arg(long, requires = "search_buffer")]
    pub uncorrected: bool,
}

default_of_flags!(Game);

impl Game {
    /// A setting with these schemes and this adversary; `buffer_size` belongs to the scheme.
    ///
    /// # Errors
    /// A scheme without its buffer, a buffer without its scheme, or flags that need another one.
    pub fn applied_to(&self, setting: Setting, buffer_size: Option<u64>) -> Result<Setting> {
        if self.uncorrected && !self.search_buffer {
            let hint = "only a search has levels to correct";
            return Err(Error::bad_value("uncorrected", "given", "`uncorrected` with `search_buffer`", hint));
        }
        let adversary = self.adversary_scheme.as_deref();
        Ok(Setting {
            scheme: BatchScheme::from_name(&self.scheme, buffer_size)?,
            adjacency: Adjacency::ZeroOut,
            target_index: self.target_index,
            adversary_scheme: BatchScheme::of_adversary(adversary, self.adversary_buffer_size, buffer_size)?,
            ..setting
        })
    }
}
