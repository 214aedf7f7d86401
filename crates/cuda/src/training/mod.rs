//! DP-SGD with canaries on GPUs, with many models in parallel.
//!
//! All models of a group take the same step at the same time. Each operation of a layer is one kernel, whose blocks are tiles of
//! all models' matrix products. While one group is trained, the CPU makes the batches of the next group.
//!
//! # Why are batches made on the CPU?
//! The samplers and the adversary are shared with CPU trainings. Nine schemes and three threat models need no second
//! implementation.
//!
//! # Why does a model not depend on the others in its group?
//! Every sum is computed in a fixed order. Only whole numbers are added atomically.

mod accelerator;
mod arguments;
mod buffer;
mod canary_tables;
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
