//! The AVX-512 instruction set: one vector in one register.

use super::{Kernel, Vectors};
use std::arch::x86_64::*;

/// The instruction sets AVX-512 F, BW, DQ and VL, with FMA.
#[derive(Debug, Clone, Copy)]
pub struct Avx512;

pub fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("fma")
}

/// # Safety
/// The processor has these instruction sets: [`is_available`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
#[inline(never)]
pub unsafe fn run<K: Kernel>(kernel: K) {
    // SAFETY: the caller has the instruction set.
    unsafe { kernel.run::<Avx512>() }
}

// SAFETY: the intrinsics need the features that `is_available` checks, and each is the operation that its method names.
unsafe impl Vectors for Avx512 {
    type Floats = __m512;
    const MANY_REGISTERS: bool = true;

    #[inline(always)]
    unsafe fn splat(value: f32) -> __m512 {
        // SAFETY: the caller has the instruction set.
        unsafe { _mm512_set1_ps(value) }
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m512 {
        // SAFETY: the caller gives sixteen floats.
        unsafe { _mm512_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn load_first(from: *const f32, count: usize) -> __m512 {
        // SAFETY: the mask leaves out every float beyond the caller's `count`.
        unsafe { _mm512_maskz_loadu_ps((0xffff_u32 >> (16 - count)) as u16, from) }
    }
    #[inline(always)]
    unsafe fn store(values: __m512, to: *mut f32) {
        // SAFETY: the caller gives room for sixteen floats.
        unsafe { _mm512_storeu_ps(to, values) }
    }
    #[inline(always)]
    unsafe fn store_first(values: __m512, to: *mut f32, count: usize) {
        // SAFETY: the mask leaves out every float beyond the caller's `count`.
        unsafe { _mm512_mask_storeu_ps(to, (0xffff_u32 >> (16 - count)) as u16, values) }
    }
    #[inline(always)]
    unsafe fn mul_add(a: __m512, b: __m512, c: __m512) -> __m512 {
        // SAFETY: the caller has the instruction set.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    unsafe fn add(a: __m512, b: __m512) -> __m512 {
        // SAFETY: the caller has the instruction set.
        unsafe { _mm512_add_ps(a, b) }
    }
}
