//! Data sets.

mod dataset;

pub use dataset::{Dataset, Examples, Shape};
