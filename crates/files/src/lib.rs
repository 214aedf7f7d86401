//! What misdeal reads from disk and writes to it: whole files or clear refusals, never half of either.
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
//! - [`scores`]: scores from `.npy`, `.csv` and `.parquet` files, and to `.npy`.
//! - [`batch_log`]: batches that a data loader dealt, from `.jsonl`, `.npy` and `.parquet` files.
//! - [`stores`]: score stores, sealed and checked.
//! - [`text`]: small files that a user wrote.
//! - [`input`]: opens every file that is read, and refuses what hangs or never ends.
//! - [`atomic`]: every file is written beside its place and moved there when it is whole.
//! - [`npy`]: headers and elements of NumPy arrays, for whoever reads them from elsewhere than a file.
//! - [`Error`]: every refusal names the path, what is wrong and what to do.

pub mod atomic;
pub mod batch_log;
mod error;
mod guarded;
pub mod input;
pub mod npy;
mod parquet_columns;
mod parquet_pages;
mod parquet_shape;
pub mod scores;
pub mod stores;
pub mod text;
mod thrift_walk;

pub use error::{Error, Result};
