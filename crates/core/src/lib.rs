//! The vocabulary of misdeal.
mod batch_scheme;
mod bounds;
mod error;
pub mod normal;
mod setting;
mod stream;
mod threat_model;

pub use batch_scheme::BatchScheme;
pub use bounds::Bounds;
pub use error::{Error, Result};
pub use setting::{MOST_STEPS, Setting, SettingHash};
pub use stream::{
    FIRST_BODY_MAGNITUDE, Purpose, ROUNDS, STREAM_NAME, Stream, aes_last_round, aes_round, gaussian,
};
pub use threat_model::{Adjacency, ThreatModel, World};
