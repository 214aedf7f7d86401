//! What theory says, and the noise that a target needs.

use super::{Completed, ShapeRequest, number, one_of, request};
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `account` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AccountRequest {
    /// Noise standard deviation divided by the clipping norm
    #[arg(long, visible_alias = "sigma", allow_hyphen_values = true, default_value = "1.0", value_parser = number, value_name = "S")]
    pub noise_multiplier: f64,
    /// Batches and epochs.
    #[command(flatten)]
    #[serde(flatten)]
    pub shape: ShapeRequest,
    /// The delta at which epsilon is meant
    #[arg(long, allow_hyphen_values = true, default_value = "1e-5", value_parser = number, value_name = "D")]
    pub delta: f64,
    /// A batch scheme, or all
    #[arg(long, default_value = "all", value_parser = Completed(SCHEMES_AND_ALL), value_name = "NAME")]
    pub scheme: String,
    /// For Poisson sampling alone: the probability that a record is in a batch, with --steps
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "Q", conflicts_with_all = ["scheme", "steps_per_epoch", "epochs", "dataset_size"])]
    pub sampling_probability: Option<f64>,
    /// The epsilon that is claimed, to be tested; what Poisson sampling would justify if not given
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "X")]
    pub claimed_epsilon: Option<f64>,
    /// Also bound delta at this epsilon
    #[arg(long, allow_hyphen_values = true, value_parser = number, value_name = "X")]
    pub epsilon: Option<f64>,
    /// Also bound the whole trade-off curve between the two errors of an adversary
    #[arg(long)]
    pub trade_off: bool,
    /// Also say what other methods of the field give
    #[arg(long)]
    pub compare: bool,
}

/// What `calibrate` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CalibrateRequest {
    /// The epsilon to meet
    #[arg(long, required = true, allow_hyphen_values = true, value_parser = number, value_name = "X")]
    pub target_epsilon: Option<f64>,
    /// The delta at which epsilon is meant
    #[arg(long, allow_hyphen_values = true, default_value = "1e-5", value_parser = number, value_name = "D")]
    pub delta: f64,
    /// Batches and epochs.
    #[command(flatten)]
    #[serde(flatten)]
    pub shape: ShapeRequest,
    /// How batches are made, or all: the noise that each scheme needs
    #[arg(long, default_value = "all", value_parser = Completed(SCHEMES_AND_ALL), value_name = "NAME")]
    pub scheme: String,
    /// The side of the bound that must meet the target: upper (the noise is enough) or lower (less is not)
    #[arg(long, default_value = "upper", value_parser = one_of::<BoundSide>(), value_name = "SIDE")]
    pub bound: BoundSide,
}

request!(CalibrateRequest, "calibrate");
request!(AccountRequest, "account");

/// The names of all schemes, and `all`.
const SCHEMES_AND_ALL: &[&str] = &[
    "all",
    "poisson",
    "shuffle",
    "shuffle-once",
    "partial-shuffle",
    "stream-shuffle",
    "batch-then-shuffle",
    "balls-in-bins",
    "without-replacement",
    "fixed-order",
];

misdeal_core::closed_set! {
    "bound",
    /// Which side of a scheme's epsilon a calibration goes by.
    pub enum BoundSide {
        /// The noise is enough: the upper bound meets the target.
        Upper,
        /// Less noise is known not to be enough: the lower bound meets the target.
        Lower,
    }
}
