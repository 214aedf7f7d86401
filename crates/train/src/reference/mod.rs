//! The reference: a direct f64 implementation of the paper's Algorithm 2 with per-example gradients.

mod network;
mod training;

pub use network::Network;
pub use training::{ModelOutputs, clip, train};
