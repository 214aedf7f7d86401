//! The vocabulary of misdeal: what is audited, the random bits of a trial, the scores that trials leave, and the epsilon
//! that scores show.
//!
//! ```
//! use misdeal_core::estimate::ClopperPearson;
//! use misdeal_core::{Purpose, STREAM_NAME, ScoreStore, Setting, StoreKind, Stream, ThresholdChoice, World};
//!
//! // A mechanism that leaks: its output is uniform on [0, 1), and shifted by 0.9 where the target is present.
//! let setting = Setting { seed: 7, ..Setting::default() }.validated()?;
//! let stream = Stream::new(&setting.hash());
//! let score = |trial, world| {
//!     let shift = if world == World::In { 0.9 } else { 0.0 };
//!     shift + stream.uniform(Purpose::Position, world, trial, 0) as f64 / 2_f64.powi(64)
//! };
//!
//! let mut store = ScoreStore::new(setting, "example", STREAM_NAME, StoreKind::Counts)?;
//! let [scores_in, scores_out] = World::BOTH.map(|world| (0..10_000).map(|trial| score(trial, world)).collect::<Vec<_>>());
//! store.insert(0..10_000, &scores_in, &scores_out)?;
//!
//! let estimate = store.estimate(ThresholdChoice::HoldOut, &ClopperPearson, 1e-5, 0.05)?;
//! assert!(estimate.valid && estimate.empirical_epsilon > 5.0);
//! # Ok::<(), misdeal_core::Error>(())
//! ```
//!
//! In the order in which data meets them:
//!
//! - [`Setting`]: what is audited, validated once and hashed, with its [`BatchScheme`] and [`ThreatModel`].
//! - [`Stream`]: every random bit of every trial, a pure function of the setting's hash, the [`World`] and the trial.
//! - [`ScoreStore`]: the scores of both worlds, mergeable, to and from bytes; as counts on the [`score_grid`] or exact.
//! - [`EpsilonEstimate`]: what the scores show, by an [`Estimator`](estimate::Estimator) at a threshold that a
//!   [`ThresholdChoice`] made.
//!
//! Beside the game stand the [`Recipe`] of a training with its [`Blueprint`], and the maths that all of them need: [`binomial`]
//! bounds, [`beta`] tails and the [`normal`] law. Whatever is refused is an [`Error`] that names the field, the value and
//! what is allowed. Nothing here uses threads, files or the clock.

mod batch_scheme;
pub mod beta;
pub mod binomial;
mod blueprint;
mod bounds;
pub mod claimed_curve;
mod closed_set;
mod device;
mod engine_name;
mod error;
pub mod estimate;
mod guarded;
pub mod normal;
mod or_infinite;
#[cfg(feature = "planted-faults")]
pub mod planted;
mod printable;
mod recipe;
mod scheme_name;
pub mod score_grid;
mod score_store;
mod setting;
mod stream;
mod threat_model;

pub use batch_scheme::BatchScheme;
pub use blueprint::{Blueprint, LayerKind, Loss};
pub use bounds::{Bounds, DeltaBounds, TradeOffBounds};
pub use closed_set::ClosedSet;
pub use device::{Device, Precision};
pub use engine_name::EngineName;
pub use error::{Error, Result};
pub use estimate::{EpsilonEstimate, ThresholdChoice};
pub use guarded::guarded;
pub use or_infinite::OrInfinite;
pub use printable::{
    is_hidden, path_text, printable, printable_json, printable_lines, printable_path, serialize_path,
    serialize_path_if_any,
};
pub use recipe::{CanaryKind, LastBatch, Recipe};
pub use scheme_name::SchemeName;
pub use score_store::{
    BinCounts, FORMAT_VERSION, ReadError, ScoreStore, Spread, StoreKind, Tally, TrialRanges,
};
pub use setting::{MOST_STEPS, NOISE_MULTIPLIERS, Setting, SettingHash, check_noise_multiplier};
pub use stream::{
    FIRST_BODY_MAGNITUDE, FIRST_BODY_RADIUS, PHILOX_STREAM_NAME, Purpose, ROUNDS, STREAM_NAME, Stream,
    aes_last_round, aes_round, gaussian, gaussian_pair, philox, sign_and_magnitude,
};
pub use threat_model::{Adjacency, ThreatModel, World};
