//! The reference: the paper's Algorithm 2 in f64, with per-example gradients written out.

mod network;
mod training;

pub use network::Network;
pub use training::{ModelOutputs, clip, train};
