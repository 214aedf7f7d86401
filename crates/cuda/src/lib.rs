//! GPUs: the engine `cuda` for the batched Gaussian mechanism, and [`training`] for DP-SGD with canaries.
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
//! The items in the order in which data passes through them:
//!
//! - [`KernelPlan`]: a game as numbers for a kernel, and the choice of that kernel.
//! - [`mirror`]: the kernels' arithmetic in plain Rust, for tests on machines without a GPU.
//! - `libraries`, `program`: the driver and the compiler, which are found and opened at run time. The kernels (`kernels/*.cu`) are
//!   compiled for the machine's device. A missing library gives an error with its name.
//! - [`Cuda`]: the engine. The device counts the scores, and only counts are copied back. Trial ranges are spread over all
//!   devices.

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
