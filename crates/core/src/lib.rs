//! The types that all of misdeal shares: settings, random streams and score stores.
//!
//! ```
//! use misdeal_core::{Purpose, STREAM_NAME, ScoreStore, Setting, StoreKind, Stream, World};
//!
//! let setting = Setting { seed: 7, ..Setting::default() }.validated()?;
//! let stream = Stream::new(&setting.hash());
//! let score = |trial, world| stream.uniform(Purpose::Position, world, trial, 0) as f64 / 2_f64.powi(64);
//!
//! let mut store = ScoreStore::new(setting, "example", STREAM_NAME, StoreKind::Counts)?;
//! let [scores_in, scores_out] = World::BOTH.map(|world| (0..100).map(|trial| score(trial, world)).collect::<Vec<_>>());
//! store.insert(0..100, &scores_in, &scores_out)?;
//! assert_eq!(store.observations_per_world(), 100);
//! # Ok::<(), misdeal_core::Error>(())
//! ```
//!
//! The main types, in the order in which a run uses them:
//!
//! - [`Setting`]: the setting of an audit, with its [`BatchScheme`] and [`ThreatModel`]. It is validated once and
//!   hashed.
//! - [`Stream`]: every random bit of every trial. It is a pure function of the setting's hash, the [`World`] and the
//!   trial.
//! - [`ScoreStore`]: the scores of both worlds, exact or as counts on the [`score_grid`]. Stores merge and convert to
//!   and from bytes.
//!
//! [`Blueprint`] describes a model and [`Recipe`] how it is trained. [`Device`] and [`Precision`] say what it runs on.
//! [`normal`] is the standard normal law. An [`Error`] names the field, the value and the allowed range. This crate
//! uses no threads, files or clock.

mod batch_scheme;
mod blueprint;
mod bound_method;
mod bounds;
mod closed_set;
mod device;
mod engine_name;
mod error;
mod guarded;
mod independence;
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
pub use bound_method::{Allowance, BoundMethod, SideMethod};
pub use bounds::{Bounds, DeltaBounds, TradeOffBounds};
pub use closed_set::ClosedSet;
pub use device::{Device, Precision};
pub use engine_name::EngineName;
pub use error::{Error, Result, spell_fields};
pub use guarded::guarded;
pub use independence::Independence;
pub use or_infinite::OrInfinite;
pub use printable::{
    is_hidden, path_text, printable, printable_json, printable_lines, printable_path, serialize_path,
    serialize_path_if_any,
};
pub use recipe::{CanaryKind, LastBatch, Recipe};
pub use scheme_name::SchemeName;
pub use score_store::{
    BinCounts, FORMAT_VERSION, ReadError, STORE_START, ScoreStore, Spread, StoreKind, Tally, TrialRanges,
    check_finite,
};
pub use setting::{MOST_STEPS, NOISE_MULTIPLIERS, Setting, SettingHash, check_noise_multiplier};
pub use stream::{
    FIRST_BODY_MAGNITUDE, FIRST_BODY_RADIUS, PHILOX_STREAM_NAME, Purpose, ROUNDS, STREAM_NAME, Stream,
    aes_last_round, aes_round, gaussian, gaussian_pair, philox, sign_and_magnitude,
};
pub use threat_model::{Adjacency, ThreatModel, World};
