//! Arguments of the kernels of a training, in the layout of the structures in `kernels/training/*.cu`.
//!
//! Addresses are on the device. Offsets are in floats from the start of a model.
#![allow(unsafe_code, reason = "the layout of what is copied to a device is promised here")]

use crate::parameters::Key;
use cudarc::driver::DeviceRepr;

/// Marks an offset that does not exist. The first stage has no input offset: it reads records instead.
pub const NOWHERE: u64 = u64::MAX;

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Models {
    pub workspace: u64,
    pub stride: u64,
    pub slots: u64,
    pub parameters: u64,
    pub sum: u64,
    pub gradients: u64,
    pub squares: u64,
    pub factors: u64,
    pub parameter_count: u32,
    pub convolution_parameters: u32,
    pub gradient_stride: u32,
    pub parts: u32,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Batch {
    pub data: u64,
    pub labels: u64,
    pub data_squares: u64,
    pub records: u64,
    pub counts: u64,
    pub record_stride: u64,
    pub count_stride: u64,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Stage {
    pub input: u64,
    pub output: u64,
    pub delta: u64,
    pub before: u64,
    pub pooled: u64,
    pub pooled_delta: u64,
    pub start: u32,
    pub first_part: u32,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Linear {
    pub input: u64,
    pub delta: u64,
    pub inputs: u32,
    pub outputs: u32,
    pub start: u32,
    pub row_channels: u32,
    pub row_step: u32,
    pub unused: u32,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Clipping {
    pub linears: u64,
    pub outputs: u64,
    pub delta: u64,
    pub linear_count: u32,
    pub classes: u32,
    /// 0: softmax cross-entropy, 1: squared error.
    pub loss: u32,
    pub clip_norm: f32,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Canary {
    pub start: u32,
    pub length: u32,
    pub at: u32,
    pub unused: u32,
}

#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Step {
    pub canaries: u64,
    pub values: u64,
    pub starts: u64,
    pub listed: u64,
    /// Zero unless several canaries share no parameter.
    pub owners: u64,
    pub owned: u64,
    pub planted: u64,
    /// Multiples in one byte each, instead of `planted`; zero for one canary.
    pub small: u64,
    pub parts: u64,
    pub outputs: u64,
    pub trials: u64,
    pub worlds: u64,
    pub planted_stride: u64,
    pub output_stride: u64,
    pub first_draw: u64,
    pub inverse_square: f64,
    pub key: Key,
    pub canary_count: u32,
    pub blocks: u32,
    pub noise_scale: f32,
    pub rate: f32,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Debiasing {
    pub linears: u64,
    pub projections: u64,
    pub projection_stride: u64,
    pub linear_count: u32,
    pub unused: u32,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Scoring {
    pub scores: u64,
    pub present: f64,
    pub zeroed: f64,
    pub recentring: f64,
    pub precision: f64,
    pub steps_per_epoch: u32,
    pub epochs: u32,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Run {
    pub bits: u64,
    pub room: u64,
    pub noise_stride: u64,
    pub steps: u32,
    pub clip_norm: f32,
}

// SAFETY: plain numbers in C's layout, without padding.
unsafe impl DeviceRepr for Linear {}
// SAFETY: as above.
unsafe impl DeviceRepr for Canary {}
