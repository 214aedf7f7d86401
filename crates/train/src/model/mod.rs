//! Models: what a user writes down, and what it becomes for given records.

mod blueprint;
mod layers;

pub use blueprint::{Blueprint, LayerKind, Loss};
pub use layers::{Layer, Model, Weights};
