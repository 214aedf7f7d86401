//! Sixteen lanes as arrays. This code runs on any processor and defines the result of every instruction set.

use super::gaussians::{self, Source};
use super::lanes::{LANES, Lanes};
use super::segments::{FIRST_NEAR_WORD, FOR_SINGLE_VALUES, FOR_SUMS, SEGMENTS, Tables, near_segment};
use super::{kernel, kernel::Workspace, plan::EnginePlan, play};
use misdeal_core::{ROUNDS, Stream, World, aes_last_round, aes_round};
use std::array::from_fn;
use std::ops::Range;

/// The implementation without special instructions.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

// SAFETY: plain Rust, which every processor runs.
unsafe impl Lanes for Portable {
    type Floats = [f32; LANES];
    type Words = [u128; 4];
    type Table = [f32; SEGMENTS];
    type Mask = u16;

    unsafe fn sum_strip<const SQUARINGS: u32, const SQUARES: bool>(
        workspace: &mut Workspace<Self, FOR_SUMS>,
        counters: [u128; 4],
        draws: Range<u32>,
    ) -> ([f32; LANES], [f32; LANES]) {
        // SAFETY: no instruction set is needed.
        unsafe { kernel::sum_strip::<Self, SQUARINGS, SQUARES>(workspace, counters, draws) }
    }
    unsafe fn score_blocks(
        plan: &EnginePlan,
        stream: &Stream,
        world: World,
        first_trial: u64,
        scores: &mut [[f64; LANES]],
    ) {
        // SAFETY: no instruction set is needed.
        unsafe { play::score_blocks::<Self>(plan, stream, world, first_trial, scores) }
    }
    unsafe fn fill_gaussians(tables: &Tables<FOR_SINGLE_VALUES>, source: Source, values: &mut [f32]) {
        // SAFETY: no instruction set is needed.
        unsafe { gaussians::fill::<Self>(tables, source, values) }
    }
    #[inline(always)]
    unsafe fn store(values: [f32; LANES], to: &mut [f32; LANES]) {
        *to = values;
    }
    #[inline(always)]
    unsafe fn splat(value: f32) -> [f32; LANES] {
        [value; LANES]
    }
    #[inline(always)]
    unsafe fn to_array(values: [f32; LANES]) -> [f32; LANES] {
        values
    }
    #[inline(always)]
    unsafe fn words_to_array(words: [u128; 4]) -> [u32; LANES] {
        from_fn(|lane| (words[lane / 4] >> (32 * (lane % 4))) as u32)
    }
    #[inline(always)]
    unsafe fn load_counters(counters: [u128; 4]) -> [u128; 4] {
        counters
    }
    #[inline(always)]
    unsafe fn next_draw(counters: [u128; 4]) -> [u128; 4] {
        counters.map(|counter| counter.wrapping_add(1 << 64))
    }
    #[inline(always)]
    unsafe fn load_key(key: u128) -> [u128; 4] {
        [key; 4]
    }
    #[inline(always)]
    unsafe fn random_words(keys: &[[u128; 4]; ROUNDS + 1], counters: [u128; 4]) -> [u128; 4] {
        counters.map(|counter| {
            let state =
                keys[1..ROUNDS].iter().fold(counter ^ keys[0][0], |state, key| aes_round(state, key[0]));
            aes_last_round(state, keys[ROUNDS][0])
        })
    }
    #[inline(always)]
    unsafe fn load_table(coefficients: &[f32; SEGMENTS]) -> [f32; SEGMENTS] {
        *coefficients
    }
    #[inline(always)]
    unsafe fn locate(words: [u128; 4]) -> ([u128; 4], [f32; LANES]) {
        // SAFETY: no instruction set is needed.
        let segments = unsafe { Self::words_to_array(words) }.map(near_segment);
        let packed =
            |block: usize| (0..4).fold(0, |sum, i| sum | (segments[4 * block + i].0 as u128) << (32 * i));
        (from_fn(packed), segments.map(|(_, local)| local))
    }
    #[inline(always)]
    unsafe fn is_near(words: [u128; 4]) -> u16 {
        // SAFETY: no instruction set is needed.
        let words = unsafe { Self::words_to_array(words) };
        (0..LANES).fold(0, |mask, lane| mask | u16::from(words[lane] >= FIRST_NEAR_WORD) << lane)
    }
    #[inline(always)]
    fn bits(mask: u16) -> u16 {
        mask
    }
    #[inline(always)]
    unsafe fn lookup(table: &[f32; SEGMENTS], index: [u128; 4]) -> [f32; LANES] {
        // SAFETY: no instruction set is needed.
        unsafe { Self::words_to_array(index) }.map(|index| table[index as usize % SEGMENTS])
    }
    #[inline(always)]
    unsafe fn mul_add(a: [f32; LANES], b: [f32; LANES], c: [f32; LANES]) -> [f32; LANES] {
        from_fn(|lane| a[lane].mul_add(b[lane], c[lane]))
    }
    #[inline(always)]
    unsafe fn mul(a: [f32; LANES], b: [f32; LANES]) -> [f32; LANES] {
        from_fn(|lane| a[lane] * b[lane])
    }
    #[inline(always)]
    unsafe fn add(a: [f32; LANES], b: [f32; LANES]) -> [f32; LANES] {
        from_fn(|lane| a[lane] + b[lane])
    }
    #[inline(always)]
    unsafe fn keep(values: [f32; LANES], mask: u16) -> [f32; LANES] {
        from_fn(|lane| if mask >> lane & 1 == 1 { values[lane] } else { 0.0 })
    }
}
