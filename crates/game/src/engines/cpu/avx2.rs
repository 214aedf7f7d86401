//! Sixteen lanes in two registers: AVX2 with FMA, and AES one block at a time.

use super::gaussians::{self, Source};
use super::lanes::{LANES, Lanes};
use super::segments::{
    FIRST_NEAR_WORD, FOR_SINGLE_VALUES, FOR_SUMS, LOCAL_BITS, LOCAL_CENTRE, SEGMENTS, Tables,
};
use super::{kernel, kernel::Workspace, plan::EnginePlan, play};
use misdeal_core::{ROUNDS, Stream, World};
use std::arch::x86_64::*;
use std::ops::Range;

/// AVX2, FMA and AES.
#[derive(Debug, Clone, Copy)]
pub struct Avx2;

impl Avx2 {
    /// Whether this processor has these instructions.
    pub fn is_available() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("aes")
    }
}

// SAFETY: the intrinsics below need exactly the features that `is_available` checks; each is the IEEE or integer
// operation that its method's contract names. The transmutes are between plain 64-byte values.
unsafe impl Lanes for Avx2 {
    type Floats = [__m256; 2];
    type Words = [__m256i; 2];
    type Table = [f32; SEGMENTS];
    type Mask = [__m256i; 2];

    #[target_feature(enable = "avx2,fma,aes")]
    #[inline(never)]
    unsafe fn sum_strip<const SQUARINGS: u32, const SQUARES: bool>(
        workspace: &mut Workspace<Self, FOR_SUMS>,
        counters: [__m256i; 2],
        draws: Range<u32>,
    ) -> ([__m256; 2], [__m256; 2]) {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { kernel::sum_strip::<Self, SQUARINGS, SQUARES>(workspace, counters, draws) }
    }
    #[target_feature(enable = "avx2,fma,aes")]
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
    #[target_feature(enable = "avx2,fma,aes")]
    unsafe fn fill_gaussians(tables: &Tables<FOR_SINGLE_VALUES>, source: Source, values: &mut [f32]) {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { gaussians::fill::<Self>(tables, source, values) }
    }
    #[inline(always)]
    unsafe fn store(values: [__m256; 2], to: &mut [f32; LANES]) {
        // SAFETY: the caller guarantees the instruction set, and there is room for sixteen floats.
        unsafe {
            _mm256_storeu_ps(to.as_mut_ptr(), values[0]);
            _mm256_storeu_ps(to.as_mut_ptr().add(8), values[1]);
        }
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> [__m256; 2] {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { [_mm256_set1_ps(value); 2] }
    }
    #[inline(always)]
    unsafe fn to_array(values: [__m256; 2]) -> [f32; LANES] {
        // SAFETY: both are 64 plain bytes.
        unsafe { std::mem::transmute(values) }
    }
    #[inline(always)]
    unsafe fn words_to_array(words: [__m256i; 2]) -> [u32; LANES] {
        // SAFETY: both are 64 plain bytes.
        unsafe { std::mem::transmute(words) }
    }
    #[inline(always)]
    unsafe fn load_counters(counters: [u128; 4]) -> [__m256i; 2] {
        // SAFETY: both are 64 plain bytes.
        unsafe { std::mem::transmute(counters) }
    }
    #[inline(always)]
    unsafe fn next_draw(counters: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            let one = _mm256_set_epi64x(1, 0, 1, 0);
            [_mm256_add_epi64(counters[0], one), _mm256_add_epi64(counters[1], one)]
        }
    }
    #[inline(always)]
    unsafe fn load_key(key: u128) -> [__m256i; 2] {
        // SAFETY: as `load_counters`.
        unsafe { Self::load_counters([key; 4]) }
    }
    #[inline(always)]
    unsafe fn random_words(keys: &[[__m256i; 2]; ROUNDS + 1], counters: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { [two_blocks(keys, counters[0]), two_blocks(keys, counters[1])] }
    }
    #[inline(always)]
    unsafe fn load_table(coefficients: &[f32; SEGMENTS]) -> [f32; SEGMENTS] {
        *coefficients
    }
    #[inline(always)]
    unsafe fn locate(words: [__m256i; 2]) -> ([__m256i; 2], [__m256; 2]) {
        // SAFETY: the caller guarantees the instruction set.
        let (low, high) = unsafe { (locate_half(words[0]), locate_half(words[1])) };
        ([low.0, high.0], [low.1, high.1])
    }
    #[inline(always)]
    unsafe fn is_near(words: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            let least = _mm256_set1_epi32(FIRST_NEAR_WORD as i32);
            [
                _mm256_cmpeq_epi32(_mm256_max_epu32(words[0], least), words[0]),
                _mm256_cmpeq_epi32(_mm256_max_epu32(words[1], least), words[1]),
            ]
        }
    }
    #[inline(always)]
    fn bits(mask: [__m256i; 2]) -> u16 {
        // SAFETY: a mask only exists where the instruction set does.
        unsafe {
            let low = _mm256_movemask_ps(_mm256_castsi256_ps(mask[0]));
            let high = _mm256_movemask_ps(_mm256_castsi256_ps(mask[1]));
            (low | high << 8) as u16
        }
    }
    #[inline(always)]
    unsafe fn lookup(table: &[f32; SEGMENTS], index: [__m256i; 2]) -> [__m256; 2] {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { [lookup_half(table, index[0]), lookup_half(table, index[1])] }
    }
    #[inline(always)]
    unsafe fn mul_add(a: [__m256; 2], b: [__m256; 2], c: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { [_mm256_fmadd_ps(a[0], b[0], c[0]), _mm256_fmadd_ps(a[1], b[1], c[1])] }
    }
    #[inline(always)]
    unsafe fn mul(a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn add(a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn keep(values: [__m256; 2], mask: [__m256i; 2]) -> [__m256; 2] {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            [
                _mm256_and_ps(values[0], _mm256_castsi256_ps(mask[0])),
                _mm256_and_ps(values[1], _mm256_castsi256_ps(mask[1])),
            ]
        }
    }
}

/// The random blocks of two counters.
///
/// # Safety
/// The processor has AVX2 and AES.
#[inline(always)]
unsafe fn two_blocks(keys: &[[__m256i; 2]; ROUNDS + 1], counters: __m256i) -> __m256i {
    // SAFETY: the caller guarantees the instruction set.
    unsafe {
        let state = _mm256_xor_si256(counters, keys[0][0]);
        let mut low = _mm256_castsi256_si128(state);
        let mut high = _mm256_extracti128_si256::<1>(state);
        for key in &keys[1..ROUNDS] {
            low = _mm_aesenc_si128(low, _mm256_castsi256_si128(key[0]));
            high = _mm_aesenc_si128(high, _mm256_castsi256_si128(key[0]));
        }
        let last = _mm256_castsi256_si128(keys[ROUNDS][0]);
        _mm256_set_m128i(_mm_aesenclast_si128(high, last), _mm_aesenclast_si128(low, last))
    }
}

/// [`Lanes::locate`] for eight words.
///
/// # Safety
/// The processor has AVX2 and FMA.
#[inline(always)]
unsafe fn locate_half(words: __m256i) -> (__m256i, __m256) {
    // SAFETY: the caller guarantees the instruction set.
    unsafe {
        // AVX2 cannot convert unsigned words or choose the rounding. So the code converts the top 24 bits and the low
        // byte, both exactly, and adds them. If the sum was rounded up, the next lower float is the truncated value.
        let scale = _mm256_set1_ps(256.0);
        let top = _mm256_cvtepi32_ps(_mm256_srli_epi32::<8>(words));
        let low = _mm256_cvtepi32_ps(_mm256_and_si256(words, _mm256_set1_epi32(0xff)));
        let nearest = _mm256_fmadd_ps(top, scale, low);
        let lost = _mm256_add_ps(_mm256_fmsub_ps(top, scale, nearest), low);
        let rounded_up = _mm256_cmp_ps::<_CMP_LT_OQ>(lost, _mm256_setzero_ps());
        let bits = _mm256_add_epi32(_mm256_castps_si256(nearest), _mm256_castps_si256(rounded_up));
        let sign = _mm256_and_si256(words, _mm256_set1_epi32(0x10));
        let half_octave = _mm256_and_si256(_mm256_srli_epi32::<22>(bits), _mm256_set1_epi32(0xf));
        let local = _mm256_or_si256(
            _mm256_and_si256(bits, _mm256_set1_epi32(LOCAL_BITS as i32)),
            _mm256_set1_epi32(0x3f80_0000),
        );
        let centred = _mm256_sub_ps(_mm256_castsi256_ps(local), _mm256_set1_ps(LOCAL_CENTRE));
        (_mm256_or_si256(half_octave, sign), centred)
    }
}

/// [`Lanes::lookup`] for eight indices.
///
/// It makes four look-ups among eight entries each, and bits 3 and 4 of the index choose between them. On processors
/// without fast gathers this is several times faster than a gather.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn lookup_half(table: &[f32; SEGMENTS], index: __m256i) -> __m256 {
    // SAFETY: the caller guarantees the instruction set, and the table has four registers of eight entries.
    unsafe {
        let bit_3 = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(index));
        let bit_4 = _mm256_castsi256_ps(_mm256_slli_epi32::<27>(index));
        let low = _mm256_blendv_ps(
            _mm256_permutevar8x32_ps(_mm256_loadu_ps(table.as_ptr().add(0)), index),
            _mm256_permutevar8x32_ps(_mm256_loadu_ps(table.as_ptr().add(8)), index),
            bit_3,
        );
        let high = _mm256_blendv_ps(
            _mm256_permutevar8x32_ps(_mm256_loadu_ps(table.as_ptr().add(16)), index),
            _mm256_permutevar8x32_ps(_mm256_loadu_ps(table.as_ptr().add(24)), index),
            bit_3,
        );
        _mm256_blendv_ps(low, high, bit_4)
    }
}
