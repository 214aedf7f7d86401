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

mod arguments;
mod deal;
mod direct;
mod group;
mod harvest;
mod layout;
mod machine;
mod memory;
mod perceptron;
mod records;
mod session;
mod source;
mod stages;
mod tiling;
mod trainer;

pub use machine::{Gpu, Grid, Machine, Profile};
pub use source::{COMMON_KERNELS, Kernel as TrainingKernel, MATRIX_CORES, MORE_SOURCES, Program, SOURCES};
pub use tiling::Tuning;
pub use trainer::{Trainer, engine_name};
