//! The operations that an instruction set provides on sixteen trials at once.
//!
//! # Why is a lane a trial and not a batch?
//! Because then no sum runs across lanes, and no lane is wasted if the number of batches is not a multiple of sixteen.

use super::gaussians::Source;
use super::segments::{FOR_SINGLE_VALUES, FOR_SUMS, SEGMENTS, Tables};
#[expect(unused_imports, reason = "for links in the documentation")]
use super::{gaussians, kernel, play};
use super::{kernel::Workspace, plan::EnginePlan};
use misdeal_core::{ROUNDS, Stream, World};
use std::ops::Range;

/// The number of trials in a vector. Lane i holds trial `16 g + i`.
pub const LANES: usize = 16;

/// Sixteen lanes of f32 and of random words on one instruction set.
///
/// Every operation is one IEEE operation or one integer operation per lane. So all implementations give the same bits
/// in every lane.
///
/// # Safety
/// Call the methods only on a processor that has the implementation's instruction set.
pub unsafe trait Lanes: Copy {
    /// Sixteen f32.
    type Floats: Copy;
    /// Sixteen random words, which are also four counters of 128 bits.
    type Words: Copy;
    /// The coefficients of one degree on all near segments.
    type Table: Copy;
    /// A subset of the lanes.
    type Mask: Copy;

    /// A vector with `value` in every lane.
    unsafe fn splat(value: f32) -> Self::Floats;
    /// The lanes as an array.
    unsafe fn to_array(values: Self::Floats) -> [f32; LANES];
    /// The words as an array.
    unsafe fn words_to_array(words: Self::Words) -> [u32; LANES];
    /// Writes the lanes to the sixteen floats of `to`.
    unsafe fn store(values: Self::Floats, to: &mut [f32; LANES]);
    /// A vector of four counters.
    unsafe fn load_counters(counters: [u128; 4]) -> Self::Words;
    /// The counters of the next draw: each is larger by 2^64.
    unsafe fn next_draw(counters: Self::Words) -> Self::Words;
    /// A round key, repeated for each counter.
    unsafe fn load_key(key: u128) -> Self::Words;
    /// The four random blocks of four counters.
    unsafe fn random_words(keys: &[Self::Words; ROUNDS + 1], counters: Self::Words) -> Self::Words;
    /// A table for [`lookup`](Lanes::lookup).
    unsafe fn load_table(coefficients: &[f32; SEGMENTS]) -> Self::Table;
    /// The segment index and local coordinate of every word ([`super::segments::near_segment`]).
    unsafe fn locate(words: Self::Words) -> (Self::Words, Self::Floats);
    /// The lanes whose word lies in a near segment.
    unsafe fn is_near(words: Self::Words) -> Self::Mask;
    /// The mask as bits, with lane 0 in the lowest bit.
    fn bits(mask: Self::Mask) -> u16;
    /// The table's entry at each lane's index.
    unsafe fn lookup(table: &Self::Table, index: Self::Words) -> Self::Floats;
    /// The value a * b + c, rounded once.
    unsafe fn mul_add(a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    /// The product a * b.
    unsafe fn mul(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// The sum a + b.
    unsafe fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// `values`, with zeros outside the lanes of `mask`.
    unsafe fn keep(values: Self::Floats, mask: Self::Mask) -> Self::Floats;

    /// [`kernel::sum_strip`], compiled for this instruction set.
    ///
    /// It is a separate function, so that the loop can use all registers.
    unsafe fn sum_strip<const SQUARINGS: u32, const SQUARES: bool>(
        workspace: &mut Workspace<Self, FOR_SUMS>,
        counters: Self::Words,
        draws: Range<u32>,
    ) -> (Self::Floats, Self::Floats);
    /// [`play::score_blocks`], compiled for this instruction set.
    unsafe fn score_blocks(
        plan: &EnginePlan,
        stream: &Stream,
        world: World,
        first_trial: u64,
        scores: &mut [[f64; LANES]],
    );
    /// [`gaussians::fill`], compiled for this instruction set.
    unsafe fn fill_gaussians(tables: &Tables<FOR_SINGLE_VALUES>, source: Source, values: &mut [f32]);

    /// The polynomial of each lane's segment at its word, by Horner's rule.
    #[inline(always)]
    unsafe fn evaluate<const N: usize>(tables: &[Self::Table; N], words: Self::Words) -> Self::Floats {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            let (index, local) = Self::locate(words);
            let mut value = Self::lookup(&tables[N - 1], index);
            for table in tables[..N - 1].iter().rev() {
                value = Self::mul_add(value, local, Self::lookup(table, index));
            }
            value
        }
    }
}
