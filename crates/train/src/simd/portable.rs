//! Plain Rust: one vector as an array, on any processor.

use super::{LANES, Vectors};
use std::array::from_fn;

/// Plain Rust, without a particular instruction set.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

// SAFETY: plain Rust, which every processor runs.
unsafe impl Vectors for Portable {
    type Floats = [f32; LANES];
    const MANY_REGISTERS: bool = false;

    unsafe fn splat(value: f32) -> [f32; LANES] {
        [value; LANES]
    }
    unsafe fn load(from: *const f32) -> [f32; LANES] {
        // SAFETY: the caller gives sixteen floats.
        unsafe { from.cast::<[f32; LANES]>().read() }
    }
    unsafe fn load_first(from: *const f32, count: usize) -> [f32; LANES] {
        // SAFETY: the caller gives `count` floats.
        from_fn(|i| if i < count { unsafe { from.add(i).read() } } else { 0.0 })
    }
    unsafe fn store(values: [f32; LANES], to: *mut f32) {
        // SAFETY: the caller gives room for sixteen floats.
        unsafe { to.cast::<[f32; LANES]>().write(values) }
    }
    unsafe fn store_first(values: [f32; LANES], to: *mut f32, count: usize) {
        for (i, value) in values.into_iter().take(count).enumerate() {
            // SAFETY: the caller gives room for `count` floats.
            unsafe { to.add(i).write(value) }
        }
    }
    unsafe fn mul_add(a: [f32; LANES], b: [f32; LANES], c: [f32; LANES]) -> [f32; LANES] {
        from_fn(|i| a[i].mul_add(b[i], c[i]))
    }
    unsafe fn add(a: [f32; LANES], b: [f32; LANES]) -> [f32; LANES] {
        from_fn(|i| a[i] + b[i])
    }
}
