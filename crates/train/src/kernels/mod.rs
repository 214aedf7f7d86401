//! Arithmetic kernels. Each checks the lengths of its slices once and then computes on raw memory.
#![allow(unsafe_code, reason = "kernels run on raw memory, inside functions that enable instruction sets")]
#![allow(
    clippy::inline_always,
    reason = "a kernel must be compiled inside the function that enables its instructions"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "a lane is an index into several arrays, and iterators are not always inlined"
)]
#![allow(clippy::too_many_arguments, reason = "a tile is told where everything lies")]

mod activation;
mod convolution;
mod convolution_gradient;
mod exponential;
mod gather;
mod loss;
mod matrix_product;
mod pooling;
mod rows;
mod step;

pub use activation::{Activate, Activation, ActivationGradient};
pub use convolution::{Convolution, Window};
pub use convolution_gradient::{ClippedSum, ConvolutionGradient};
pub use gather::GatherRows;
pub use loss::LossGradient;
pub use matrix_product::{Matrix, MatrixProduct};
pub use pooling::{Pooling, PoolingGradient};
pub use rows::{ColumnSums, RowSquares, ScaleRows};
pub use step::{Dot, NoisyStep, add_multiple};
