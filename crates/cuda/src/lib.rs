//! Graphics processors: the engine `cuda` for the batched Gaussian mechanism, and [`training`] for DP-SGD with canaries.
//!
//! ```
//! use misdeal_core::{Setting, Stream, World};
//! use misdeal_cuda::Cuda;
//! use misdeal_game::{Game, engines::Engine};
//!
//! let setting = Setting::default();
//! let game = Game::with_stream(&setting, Stream::philox(&setting.hash()));
//! match Cuda::new(&game) {
//!     Ok(engine) => {
//!         let mut scores = vec![0.0; 1000];
//!         engine.score(World::In, 0..1000, &mut scores);
//!     }
//!     Err(reason) => println!("{reason}"),
//! }
//! ```
//!
//! In the order in which data meets them:
//!
//! - [`KernelPlan`]: a game as numbers for a kernel, and which kernel plays it.
//! - [`mirror`]: the kernels' arithmetic in plain Rust, so that it is tested where there is no graphics processor.
//! - `libraries`, `program`: the driver and the compiler, found and opened at run time; the kernels (`kernels/*.cu`), compiled
//!   for the device that is there. Where a library is missing, that is an error with its name and no more.
//! - [`Cuda`]: the engine. Scores are counted on the device; only counts come back. Trial ranges are dealt to all devices.

mod engine;
mod error;
mod gpus;
mod kernel_plan;
mod libraries;
mod mechanism_device;
pub mod mirror;
mod parameters;
mod program;
pub mod training;

pub use engine::Cuda;
pub use error::CudaError;
pub(crate) use error::Result;
pub use gpus::{GpuInfo, gpus};
pub use kernel_plan::{EqualKind, KernelPlan};
pub use program::{Kernel, compile, compile_source};
