//! game
mod batch_rng;
pub mod engines;
mod position_law;
pub mod schemes;

pub use batch_rng::BatchRng;
pub use position_law::{PositionLaw, Weights};
