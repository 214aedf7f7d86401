//! game
mod batch_rng;
pub mod engines;

pub use batch_rng::BatchRng;
