//! What a `.npy` array says of itself, and how its elements become numbers; for scores here and for data sets elsewhere.

mod element;
mod header;

pub use element::Element;
pub(crate) use header::MAGIC;
pub use header::{Header, Problem, read_header};
