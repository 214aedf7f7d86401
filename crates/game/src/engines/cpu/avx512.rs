//! Sixteen lanes in one register: AVX-512 with vector AES.

use super::gaussians::{self, Source};
use super::lanes::{LANES, Lanes};
use super::segments::{
    FIRST_NEAR_WORD, FOR_SINGLE_VALUES, FOR_SUMS, LOCAL_BITS, LOCAL_CENTRE, SEGMENTS, Tables,
};
use super::{kernel, kernel::Workspace, plan::EnginePlan, play};
use misdeal_core::{ROUNDS, Stream, World};
use std::arch::x86_64::*;
use std::ops::Range;

/// AVX-512 F, BW, DQ and VL, with VAES.
#[derive(Debug, Clone, Copy)]
pub struct Avx512;

impl Avx512 {
    /// Whether this processor has these instructions.
    pub fn is_available() -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("vaes")
    }
}

// SAFETY: the intrinsics below need exactly the features that `is_available` checks; each is the IEEE or integer
// operation that its method's contract names. The transmutes are between plain 64-byte values.
unsafe impl Lanes for Avx512 {
    type Floats = __m512;
    type Words = __m512i;
    type Table = [__m512; 2];
    type Mask = __mmask16;

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,vaes")]
    #[inline(never)]
    unsafe fn sum_strip<const SQUARINGS: u32, const SQUARES: bool>(
        workspace: &mut Workspace<Self, FOR_SUMS>,
        counters: __m512i,
        draws: Range<u32>,
    ) -> (__m512, __m512) {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { kernel::sum_strip::<Self, SQUARINGS, SQUARES>(workspace, counters, draws) }
    }
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,vaes")]
    unsafe fn score_blocks(
        plan: &EnginePlan,
        stream: &Stream,
        world: World,
        first_trial: u64,
        scores: &mut [[f64; LANES]],
    ) {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { play::score_blocks::<Self>(plan, stream, world, first_trial, scores) }
    }
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,vaes")]
    unsafe fn fill_gaussians(tables: &Tables<FOR_SINGLE_VALUES>, source: Source, values: &mut [f32]) {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { gaussians::fill::<Self>(tables, source, values) }
    }
    #[inline(always)]
    unsafe fn store(values: __m512, to: &mut [f32; LANES]) {
        // SAFETY: the caller guarantees the instruction set, and there is room for sixteen floats.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), values) }
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> __m512 {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm512_set1_ps(value) }
    }
    #[inline(always)]
    unsafe fn to_array(values: __m512) -> [f32; LANES] {
        // SAFETY: both are 64 plain bytes.
        unsafe { std::mem::transmute(values) }
    }
    #[inline(always)]
    unsafe fn words_to_array(words: __m512i) -> [u32; LANES] {
        // SAFETY: both are 64 plain bytes.
        unsafe { std::mem::transmute(words) }
    }
    #[inline(always)]
    unsafe fn load_counters(counters: [u128; 4]) -> __m512i {
        // SAFETY: both are 64 plain bytes.
        unsafe { std::mem::transmute(counters) }
    }
    #[inline(always)]
    unsafe fn next_draw(counters: __m512i) -> __m512i {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm512_add_epi64(counters, _mm512_set_epi64(1, 0, 1, 0, 1, 0, 1, 0)) }
    }
    #[inline(always)]
    unsafe fn load_key(key: u128) -> __m512i {
        // SAFETY: as `load_counters`.
        unsafe { Self::load_counters([key; 4]) }
    }
    #[inline(always)]
    unsafe fn random_words(keys: &[__m512i; ROUNDS + 1], counters: __m512i) -> __m512i {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            let mut state = _mm512_xor_si512(counters, keys[0]);
            for key in &keys[1..ROUNDS] {
                state = _mm512_aesenc_epi128(state, *key);
            }
            _mm512_aesenclast_epi128(state, keys[ROUNDS])
        }
    }
    #[inline(always)]
    unsafe fn load_table(coefficients: &[f32; SEGMENTS]) -> [__m512; 2] {
        // SAFETY: the array holds two registers; unaligned loads are used.
        unsafe { [_mm512_loadu_ps(coefficients.as_ptr()), _mm512_loadu_ps(coefficients.as_ptr().add(LANES))] }
    }
    #[inline(always)]
    unsafe fn locate(words: __m512i) -> (__m512i, __m512) {
        /// (a AND b) OR c, as the truth table of the ternary logic instruction.
        const AND_OR: i32 = 0xea;
        /// b if c is set, otherwise a.
        const SELECT: i32 = 0xd8;
        const TRUNCATE: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            let bits = _mm512_castps_si512(_mm512_cvt_roundepu32_ps::<TRUNCATE>(words));
            // The look-up uses only the low five bits of an index.
            let index = _mm512_ternarylogic_epi32::<SELECT>(
                _mm512_srli_epi32::<22>(bits),
                words,
                _mm512_set1_epi32(0x10),
            );
            let local = _mm512_ternarylogic_epi32::<AND_OR>(
                bits,
                _mm512_set1_epi32(LOCAL_BITS as i32),
                _mm512_set1_epi32(0x3f80_0000),
            );
            (index, _mm512_sub_ps(_mm512_castsi512_ps(local), _mm512_set1_ps(LOCAL_CENTRE)))
        }
    }
    #[inline(always)]
    unsafe fn is_near(words: __m512i) -> __mmask16 {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm512_test_epi32_mask(words, _mm512_set1_epi32(FIRST_NEAR_WORD.wrapping_neg() as i32)) }
    }
    #[inline(always)]
    fn bits(mask: __mmask16) -> u16 {
        mask
    }
    #[inline(always)]
    unsafe fn lookup(table: &[__m512; 2], index: __m512i) -> __m512 {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm512_permutex2var_ps(table[0], index, table[1]) }
    }
    #[inline(always)]
    unsafe fn mul_add(a: __m512, b: __m512, c: __m512) -> __m512 {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    unsafe fn mul(a: __m512, b: __m512) -> __m512 {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm512_mul_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn add(a: __m512, b: __m512) -> __m512 {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm512_add_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn keep(values: __m512, mask: __mmask16) -> __m512 {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm512_maskz_mov_ps(mask, values) }
    }
}
