//! Kernels, on a device where there is one, on the processor everywhere.

mod agreement;
mod device;
mod emulation;
mod mirror;
mod training_device;
mod training_emulated;
mod training_kernels;
