//! Training real models with canaries, and the data sets that they are trained on.
//!
//! ```
//! use misdeal_train::data;
//! let dataset = data::load("synthetic", None, 1_000, 7)?;
//! assert_eq!(dataset.train.len(), 1_000);
//! assert_eq!(dataset.content_hash(), data::load("synthetic", None, 1_000, 7)?.content_hash());
//! # Ok::<(), data::Error>(())
//! ```
//!
//! - [`data`]: data sets from their official files, or made on the spot.

pub mod data;
mod error;

pub use error::{Error, Result};
