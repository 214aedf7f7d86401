//! The reference: f64, per-example gradients written out, literally the paper's Algorithm 2. The engine is compared with it,
//! trial by trial.

mod network;
mod training;

pub use network::Network;
pub use training::{Outputs, clip, train};
