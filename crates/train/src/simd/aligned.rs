//! Floats aligned to cache lines.

use super::LANES;
use std::ops::{Deref, DerefMut};

/// One value for each of sixteen records, in one cache line.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct LaneVector(pub [f32; LANES]);

impl LaneVector {
    /// Sixteen zeros.
    pub const ZERO: LaneVector = LaneVector([0.0; LANES]);
}

/// Views vectors as floats.
pub fn floats(groups: &[LaneVector]) -> &[f32] {
    // SAFETY: a vector is sixteen plain floats without padding.
    unsafe { std::slice::from_raw_parts(groups.as_ptr().cast(), groups.len() * LANES) }
}

/// Views vectors as mutable floats.
pub fn floats_mut(groups: &mut [LaneVector]) -> &mut [f32] {
    // SAFETY: as in `floats`; the vectors stay borrowed as long as the slice.
    unsafe { std::slice::from_raw_parts_mut(groups.as_mut_ptr().cast(), groups.len() * LANES) }
}

/// Floats that start at a cache line.
#[derive(Debug, Clone)]
pub struct AlignedFloats {
    groups: Vec<LaneVector>,
    length: usize,
}

impl AlignedFloats {
    /// Creates `length` zeros.
    pub fn zeros(length: usize) -> Self {
        AlignedFloats { groups: vec![LaneVector::ZERO; length.div_ceil(LANES)], length }
    }
}

impl Deref for AlignedFloats {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &floats(&self.groups)[..self.length]
    }
}

impl DerefMut for AlignedFloats {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut floats_mut(&mut self.groups)[..self.length]
    }
}

impl From<&[f32]> for AlignedFloats {
    fn from(values: &[f32]) -> Self {
        let mut aligned = Self::zeros(values.len());
        aligned.copy_from_slice(values);
        aligned
    }
}
