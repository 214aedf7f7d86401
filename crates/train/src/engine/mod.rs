//! The engine: each core trains one model at a time, in f32, with full vectors.
//!
//! The layers before the first linear one are the image part (`image_layers`). There, a vector holds one value of each of sixteen
//! records. The linear layers (`linear_layers`) hold one record per row and are matrix products. `gradients` joins the two for the
//! records of a batch, and `workspace` runs the training.
//!
//! # Why one model at a time?
//! A small model's workspace stays in the core's cache, and cores share only the data. Each core has one [`Workspace`] for all its
//! trials, so memory does not grow with the number of models.
//!
//! # Why is a lane a record in convolutions?
//! Vectors are full for any number of filters, and pooling and activations are simple. Each record's gradient is computed in its
//! own lane, at the cost of the sum alone. Linear layers need no per-record gradients: their norms follow from inputs and deltas.
//!
//! # Why are the kernels written by hand?
//! Each value is one chain of fused multiply-adds in a fixed order. Every tiling therefore gives the same bits on AVX-512, AVX2
//! and plain Rust. No general matrix library promises that.

mod convolution;
mod gradients;
mod image_layers;
mod linear_layers;
mod workspace;

pub use workspace::{TrainedModel, Workspace};
