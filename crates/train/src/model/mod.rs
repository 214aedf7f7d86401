//! Models: what a user writes down, and what it becomes for given records.

mod layers;

pub use layers::{Layer, Model, Weights};
