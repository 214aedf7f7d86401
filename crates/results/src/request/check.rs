//! Model cards.

use super::{Request, count, default_of_flags, number, paths};
use clap::Args;
use clap::builder::PossibleValuesParser;
use misdeal_core::BatchScheme;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What `check` is asked for: cards in files, or one card in the flags.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CheckRequest {
    /// Model cards: .toml with the words of the flags as keys, Markdown (.md) with them under `privacy:` in its front matter,
    /// or the text (.txt) of TensorFlow Privacy's privacy statement
    #[arg(value_name = "CARD", conflicts_with_all = ["name", "dataset_size", "batch_size", "epochs", "steps", "noise_multiplier", "delta",
        "claimed_epsilon", "scheme", "buffer_size"])]
    #[serde(with = "paths")]
    #[schemars(with = "Vec<String>")]
    pub cards: Vec<PathBuf>,
    /// The card, in flags.
    #[command(flatten)]
    #[serde(flatten)]
    pub card: Card,
    /// Also audit the mechanism, even where theory gives a bound
    #[arg(long)]
    pub audit: bool,
    /// Observations of an audit in both worlds together; as many as a second or two allow if not given
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "N")]
    pub observations: Option<u64>,
    /// Seed of all randomness.
    #[arg(skip)]
    pub seed: u64,
}

/// What a model card states of its training. What it leaves out is `None`.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Card {
    /// The model's name, for the table and the page
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// Records in the training data
    #[arg(long, visible_alias = "records", allow_hyphen_values = true, value_parser = count, value_name = "N")]
    #[serde(alias = "records")]
    pub dataset_size: Option<u64>,
    /// Records in a batch, on average where sizes are random
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "B")]
    pub batch_size: Option<u64>,
    /// Passes over the data
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "E", conflicts_with = "steps")]
    pub epochs: Option<u64>,
    /// Steps in all epochs together, instead of --epochs
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "N")]
    pub steps: Option<u64>,
    /// Noise standard deviation divided by the clipping norm
    #[arg(long, visible_alias = "sigma", allow_hyphen_values = true, value_parser = number, value_name = "S")]
    #[serde(alias = "sigma")]
    pub noise_multiplier: Option<f64>,
    /// The delta at which epsilon is claimed; 1 / dataset_size if not given
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "D")]
    pub delta: Option<f64>,
    /// The epsilon that is claimed
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "X")]
    pub claimed_epsilon: Option<f64>,
    /// How batches are made; if not given, the card is judged as shuffle and as poisson
    #[arg(long, value_parser = PossibleValuesParser::new(BatchScheme::NAMES), value_name = "NAME")]
    pub scheme: Option<String>,
    /// Records in the buffer of partial-shuffle and stream-shuffle
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "K")]
    pub buffer_size: Option<u64>,
    /// The probability with which Poisson sampling has a record in a batch; batch_size / dataset_size if not given.
    #[arg(skip)]
    pub sampling_probability: Option<f64>,
    /// Batches in an epoch; dataset_size / batch_size, rounded down, if not given. It is one more where the last batch is kept although
    /// it is not full.
    #[arg(skip)]
    pub steps_per_epoch: Option<u64>,
    /// What a reader should know of the card's source.
    #[arg(skip)]
    pub remarks: Vec<String>,
}

impl Card {
    /// The names of the fields that are stated.
    pub fn stated(&self) -> Vec<&'static str> {
        let fields = [
            ("dataset_size", self.dataset_size.is_some()),
            ("batch_size", self.batch_size.is_some()),
            ("epochs", self.epochs.is_some()),
            ("steps", self.steps.is_some()),
            ("noise_multiplier", self.noise_multiplier.is_some()),
            ("delta", self.delta.is_some()),
            ("claimed_epsilon", self.claimed_epsilon.is_some()),
            ("scheme", self.scheme.is_some()),
            ("buffer_size", self.buffer_size.is_some()),
        ];
        fields.into_iter().filter(|(_, is_stated)| *is_stated).map(|(name, _)| name).collect()
    }
}

default_of_flags!(CheckRequest, Card);

impl Request for CheckRequest {
    const COMMAND: &str = "check";
}
