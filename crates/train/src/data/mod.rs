//! Data sets, from their official files or synthetic.
//!
//! ```
//! use misdeal_train::data;
//! let refusal = data::load("cifar-10", None, 10_000, 0).unwrap_err();
//! assert!(refusal.to_string().contains("cifar-10-binary.tar.gz"));
//! ```
//!
//! - [`load`]: a data set by its name, as in the paper: two classes of the image sets, `size` records of each set.
//! - [`Dataset`]: [`Examples`] of one [`Shape`] for training and testing, with a hash of their content.
//! - [`Synthetic`]: data of any shape, a pure function of a seed.
//! - [`Error`]: one line that says what to do; for a missing data set, where to get it.
//!
//! Files are not trusted. Nothing in them is executed or extracted. Memory grows with the bytes that exist, not with what a header
//! claims. Every format has a size limit, and malformed content is an error.

mod archive;
mod array;
mod cifar_10;
mod dataset;
mod error;
mod fashion_mnist;
mod idx;
mod labelled_bits;
mod limited;
mod location_30;
mod npz;
mod pickle;
mod purchase_100;
mod records;
mod selection;
mod synthetic;

#[cfg(fuzzing)]
pub mod fuzzing;

pub use dataset::{Dataset, Examples, Shape};
pub use error::{Error, Result};
pub use synthetic::Synthetic;

use std::path::Path;

/// The names of data sets.
pub const NAMES: [&str; 5] = ["fashion-mnist", "cifar-10", "purchase-100", "location-30", "synthetic"];

/// Loads `size` training records, and test data if there are any.
///
/// `dataset` is one of [`NAMES`], or the path of a `.npz` file with the arrays `features` and `labels`. Files of the named sets
/// are searched in `data_folder`, first in a subfolder with the set's name. The result is a pure function of the files' content,
/// `size` and `seed`. If a file has more than `size` records, the seed chooses which are used.
///
/// # Errors
/// The name is unknown, files are missing or malformed, or `size` is zero or too large.
pub fn load(dataset: &str, data_folder: Option<&Path>, size: usize, seed: u64) -> Result<Dataset> {
    match dataset {
        "fashion-mnist" => fashion_mnist::load(data_folder, size, seed),
        "cifar-10" => cifar_10::load(data_folder, size, seed),
        "purchase-100" => purchase_100::load(data_folder, size, seed),
        "location-30" => location_30::load(data_folder, size, seed),
        "synthetic" => Synthetic { size, test_size: size / 5, seed, ..Synthetic::default() }.make(),
        path if Path::new(path)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("npz")) =>
        {
            npz::load(Path::new(path), size, seed)
        }
        other => {
            let allowed = format!("one of {} or a path that ends in .npz", NAMES.join(", "));
            let hint = "check the name, or convert the data with numpy.savez(FILE, features=..., labels=...)";
            Err(misdeal_core::Error::bad_value("dataset", format!("{other:?}"), allowed, hint).into())
        }
    }
}
