//! Reads and writes misdeal's files: always a whole file or an error.
//!
//! ```
//! use misdeal_files::scores;
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("scores-in.npy");
//! scores::write_npy(&path, &[0.5, -1.25, 3.0])?;
//! assert_eq!(scores::read(&path)?, [0.5, -1.25, 3.0]);
//!
//! let refusal = scores::read(&folder.path().join("scores.parquet")).unwrap_err();
//! assert!(refusal.to_string().contains("check the path"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`scores`]: reads scores from `.npy`, `.csv` and `.parquet` files, and writes them to `.npy`.
//! - [`batch_log`]: reads the batches of a data loader from `.jsonl`, `.npy` and `.parquet` files.
//! - [`plan`]: writes the batches of a plan, part by part, as a batch log.
//! - [`secret`]: secret seeds, from the operating system and in files that only their owner can read.
//! - [`stores`]: score stores, with checksums.
//! - [`text`]: small text files.
//! - [`input`]: opens files, and refuses pipes and devices that never end.
//! - [`atomic`]: writes a temporary file beside the target and renames it when it is complete.
//! - [`npy`]: headers and elements of NumPy arrays.
//! - [`Error`]: names the path, the problem and the next step.

pub mod atomic;
pub mod batch_log;
mod error;
mod guarded;
pub mod input;
pub mod npy;
mod parquet_columns;
mod parquet_pages;
mod parquet_shape;
pub mod plan;
pub mod scores;
pub mod secret;
pub mod stores;
pub mod text;
mod thrift_walk;

pub use error::{Error, Result};
