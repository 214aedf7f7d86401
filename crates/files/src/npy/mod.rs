//! Headers and elements of `.npy` arrays, for scores, batch logs and data sets.

mod element;
mod header;

pub use element::Element;
pub(crate) use header::MAGIC;
pub use header::{Header, Problem, read_header};
