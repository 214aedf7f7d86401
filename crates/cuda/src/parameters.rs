//! Parameters of the kernels, in the layout of the structures of the same names in `kernels/*.cu`.
#![allow(unsafe_code, reason = "the layout of what is copied to a device is promised here")]

use cudarc::driver::DeviceRepr;

/// The key of a Philox stream.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Key {
    pub low: u32,
    pub high: u32,
}

/// A game in which every batch has the same weight, in one world (`equal.cu`).
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Equal {
    /// 1 / s.
    pub inverse_noise: f64,
    /// The exponent of the target's term, without its noise.
    pub target_exponent: f64,
    /// Constant subtracted from all exponents, so that squares fit the range of f32.
    pub lowered_by: f64,
    /// Constant added to the score for every epoch.
    pub constant: f64,
    pub key: Key,
    pub world: u32,
    pub epochs: u32,
    pub batches: u32,
    /// 2 ln(2) f^2 with f = log2(e) / s.
    pub scale: f32,
    /// `lowered_by`, as a power of two.
    pub offset: f32,
}

/// The law of the target's batches (`position.cu`).
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Positions {
    /// The address of the thresholds on the device.
    pub thresholds: u64,
    /// Index of the first possible batch, relative to the first drawn batch.
    pub first: u64,
    pub count: u64,
    pub thresholds_length: u64,
    pub steps: u64,
    pub epochs: u64,
    /// [`UNIFORM`], [`LISTED`] or [`EACH_STEP`].
    pub law: u32,
    /// Whether the first epoch's batches are used in all epochs.
    pub kept: u32,
}

pub const UNIFORM: u32 = 0;
pub const LISTED: u32 = 1;
pub const EACH_STEP: u32 = 2;

/// Any game, in one world (`general.cu`).
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct General {
    /// The address of the log weights on the device.
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

/// The trials to simulate, and where their scores go (`counting.cu`).
///
/// Scores go to the address `scores`. If that is zero, they are counted in the tables at `counts`.
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
