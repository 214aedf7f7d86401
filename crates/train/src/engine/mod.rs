//! The engine: one model at a time on each core, in f32, with every vector of the arithmetic units full.
//!
//! A model's layers up to the first linear one are its image part ([`image`]), where a vector holds one value of
//! sixteen records. The linear layers ([`linear`]) hold one record a row and are matrix products. [`gradients`] joins
//! the two for the records of a batch, and [`trial`] is the training itself.
//!
//! # Why one model at a time?
//! A small model's workspace stays in the core's cache, and cores share only the data. Each core has one
//! [`trial::Workspace`] for all its trials, so memory does not grow with the number of models.
//!
//! # Why is a lane a record in convolutions?
//! Any number of filters fills the vector, pooling and activations are trivial, and each record's gradient comes out
//! in its own lane at the price of the sum. Linear layers need no per-record gradients: their norms follow from
//! inputs and deltas.
//!
//! # Why are the kernels written by hand?
//! Each value is one chain of fused multiply-adds in a stated order. Any tiling, AVX-512, AVX2 and plain Rust give
//! the same bits, which no general matrix library promises.

mod convolution;
mod gradients;
mod image_layers;
mod linear_layers;
mod workspace;

pub use workspace::{TrainedModel, Workspace};
