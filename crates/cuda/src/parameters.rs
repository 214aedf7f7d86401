//! What kernels are told, laid out as the structures of the same names in `kernels/*.cu`.
#![allow(unsafe_code, reason = "the layout of what is copied to a device is promised here")]

use cudarc::driver::DeviceRepr;

/// The key of a Philox stream.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Key {
    pub low: u32,
    pub high: u32,
}

/// A game in which every batch has the same weight (`equal.cu`), in one world.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Equal {
    /// 1 / s.
    pub inverse_noise: f64,
    /// The exponent of the target's term beside its noise.
    pub target_exponent: f64,
    /// What all exponents are lowered by, so that squares stay within f32.
    pub lowered_by: f64,
    /// Added to the score for every epoch.
    pub constant: f64,
    pub key: Key,
    pub world: u32,
    pub epochs: u32,
    pub batches: u32,
    /// 2 ln(2) f^2 with f = log2(e) / s.
    pub scale: f32,
    /// `lowered_by` in binary exponents.
    pub offset: f32,
}

/// The target's batches (`position.cu`).
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Positions {
    /// The thresholds' address on the device.
    pub thresholds: u64,
    /// The first batch, counted from the first that is drawn.
    pub first: u64,
    pub count: u64,
    pub thresholds_length: u64,
    pub steps: u64,
    pub epochs: u64,
    /// [`UNIFORM`], [`LISTED`] or [`EACH_STEP`].
    pub law: u32,
    /// Whether the first epoch decides for all.
    pub kept: u32,
}

pub const UNIFORM: u32 = 0;
pub const LISTED: u32 = 1;
pub const EACH_STEP: u32 = 2;

/// Any game (`general.cu`), in one world.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct General {
    /// The logarithms' address on the device.
    pub log_weights: u64,
    pub positions: Positions,
    pub noise: f64,
    pub shift: f64,
    pub present: f64,
    pub zeroed: f64,
    pub precision: f64,
    pub probability: f64,
    pub key: Key,
    pub world: u32,
    pub epochs: u32,
    pub batches: u32,
    /// [`ONCE_AN_EPOCH`], [`KEPT_FOR_ALL_EPOCHS`] or [`IN_EACH_STEP`].
    pub adversary: u32,
}

pub const ONCE_AN_EPOCH: u32 = 0;
pub const KEPT_FOR_ALL_EPOCHS: u32 = 1;
pub const IN_EACH_STEP: u32 = 2;

/// The trials to play, and where their scores go (`counting.cu`): to the address `scores` if it is not zero, else to the tables
/// at `counts`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Delivery {
    pub first: u64,
    pub count: u64,
    pub scores: u64,
    pub counts: u64,
}

// SAFETY: plain numbers in C's layout, without padding that a kernel reads.
unsafe impl DeviceRepr for Equal {}
// SAFETY: as above.
unsafe impl DeviceRepr for General {}
// SAFETY: as above.
unsafe impl DeviceRepr for Delivery {}
