//! DP-SGD with canaries on graphics processors, many models side by side.
//!
//! All models of a group take the same step at the same time. Each operation of a layer is one kernel, whose blocks
//! are tiles of all models' matrix products. The processor makes the batches of the next group while one is trained.
//!
//! # Why are batches made on the processor?
//! The samplers and the adversary are those of trainings on processors: nine schemes and three threat models need no
//! second implementation.
//!
//! # Why does a model not depend on the others in its group?
//! Every sum is a chain in a fixed order. Only whole numbers are added atomically.

mod accelerator;
mod arguments;
mod buffer;
mod device_dataset;
mod direct;
mod group_batches;
mod group_memory;
mod group_results;
mod group_training;
mod memory_layout;
mod perceptron;
mod program;
mod session;
mod stages;
mod tiling;
mod trainer;

pub use accelerator::{Accelerator, Gpu, Grid, Profile};
pub use program::{COMMON_KERNELS, KernelSpec, MATRIX_CORES, MORE_SOURCES, Program, SOURCES};
pub use tiling::Tuning;
pub use trainer::{Trainer, engine_name};
