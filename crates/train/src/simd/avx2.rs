//! The AVX2 instruction set: one vector in two registers.

use super::{Kernel, LANES, Vectors};
use std::arch::x86_64::*;

/// The instruction set AVX2 with FMA.
#[derive(Debug, Clone, Copy)]
pub struct Avx2;

pub fn is_available() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// # Safety
/// The processor has AVX2 and FMA: [`is_available`].
#[target_feature(enable = "avx2,fma")]
#[inline(never)]
pub unsafe fn run<K: Kernel>(kernel: K) {
    // SAFETY: the caller has the instruction set.
    unsafe { kernel.run::<Avx2>() }
}

/// Sixteen words with all bits set, then sixteen zeros. Sixteen words that start at index 16 - n select the first n lanes.
const CHOICE: [i32; 2 * LANES] = {
    let mut choice = [0; 2 * LANES];
    let mut i = 0;
    while i < LANES {
        choice[i] = -1;
        i += 1;
    }
    choice
};

/// The masks that select the first `count` lanes.
#[inline(always)]
unsafe fn first(count: usize) -> [__m256i; 2] {
    // SAFETY: both loads stay within the array for counts of 0 to 16.
    unsafe {
        let from = CHOICE.as_ptr().add(LANES - count);
        [_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.add(8).cast())]
    }
}

// SAFETY: the intrinsics need the features that `is_available` checks, and each is the operation that its method names.
unsafe impl Vectors for Avx2 {
    type Floats = [__m256; 2];
    const MANY_REGISTERS: bool = false;

    #[inline(always)]
    unsafe fn splat(value: f32) -> [__m256; 2] {
        // SAFETY: the caller has the instruction set.
        unsafe { [_mm256_set1_ps(value); 2] }
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> [__m256; 2] {
        // SAFETY: the caller gives sixteen floats.
        unsafe { [_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))] }
    }
    #[inline(always)]
    unsafe fn load_first(from: *const f32, count: usize) -> [__m256; 2] {
        // SAFETY: the masks leave out every float beyond the caller's `count`.
        unsafe {
            let [low, high] = first(count);
            [_mm256_maskload_ps(from, low), _mm256_maskload_ps(from.wrapping_add(8), high)]
        }
    }
    #[inline(always)]
    unsafe fn store(values: [__m256; 2], to: *mut f32) {
        // SAFETY: the caller gives room for sixteen floats.
        unsafe {
            _mm256_storeu_ps(to, values[0]);
            _mm256_storeu_ps(to.add(8), values[1]);
        }
    }
    #[inline(always)]
    unsafe fn store_first(values: [__m256; 2], to: *mut f32, count: usize) {
        // SAFETY: the masks leave out every float beyond the caller's `count`.
        unsafe {
            let [low, high] = first(count);
            _mm256_maskstore_ps(to, low, values[0]);
            _mm256_maskstore_ps(to.wrapping_add(8), high, values[1]);
        }
    }
    #[inline(always)]
    unsafe fn mul_add(a: [__m256; 2], b: [__m256; 2], c: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the caller has the instruction set.
        unsafe { [_mm256_fmadd_ps(a[0], b[0], c[0]), _mm256_fmadd_ps(a[1], b[1], c[1])] }
    }
    #[inline(always)]
    unsafe fn add(a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the caller has the instruction set.
        unsafe { [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])] }
    }
}
