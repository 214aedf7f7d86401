//! Standard Gaussian numbers for the noise of training steps.

use super::lanes::{LANES, Lanes};
use super::segments::{FIRST_NEAR_WORD, FOR_SINGLE_VALUES, Tables};
use super::{INSTRUCTION_SETS, InstructionSet};
use misdeal_core::{FIRST_BODY_MAGNITUDE, Purpose, Stream, World, gaussian, sign_and_magnitude};

/// The number of blocks that a counter's low 32 index bits distinguish. A strip never crosses a multiple of it.
const LOW_BLOCKS: u64 = 1 << 32;

/// The source of one trial's noise, from a given number on.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The run's random stream.
    pub stream: &'a Stream,
    /// The world.
    pub world: World,
    /// The trial.
    pub trial: u64,
    /// The index of the first number, a multiple of sixteen.
    pub first: u64,
}

/// Fills slices with a trial's training noise, on the processor's fastest instruction set.
///
/// Each number is within 4e-7 of [`Stream::training_gaussian`]. Beyond four standard deviations it is computed exactly
/// and rounded once to f32. Every instruction set gives the same bits.
///
/// ```
/// use misdeal_core::{Setting, Stream, World};
/// let stream = Stream::new(&Setting::default().hash());
/// let mut noise = [0.0; 100];
/// misdeal_game::Gaussians::new().fill(&stream, World::In, 7, 32, &mut noise);
/// let exact = stream.training_gaussian(World::In, 7, 32 + 99);
/// assert!((f64::from(noise[99]) - exact).abs() < 1e-6);
/// ```
#[derive(Debug, Clone)]
pub struct Gaussians {
    tables: Tables<FOR_SINGLE_VALUES>,
    instruction_set: InstructionSet,
}

impl Default for Gaussians {
    fn default() -> Self {
        Self::new()
    }
}

impl Gaussians {
    /// A generator on the processor's fastest instruction set.
    ///
    /// # Panics
    /// Never, because plain Rust runs everywhere.
    pub fn new() -> Self {
        let set =
            INSTRUCTION_SETS.iter().find(|set| (set.is_available)()).expect("plain Rust runs everywhere");
        Gaussians { tables: Tables::for_gaussians(), instruction_set: *set }
    }

    /// Writes the numbers `first`, `first + 1`, ... of the trial's training noise to `values`.
    ///
    /// # Panics
    /// If `first` is not a multiple of sixteen.
    pub fn fill(&self, stream: &Stream, world: World, trial: u64, first: u64, values: &mut [f32]) {
        assert!(first.is_multiple_of(LANES as u64), "noise is drawn sixteen numbers at a time");
        let mut source = Source { stream, world, trial, first };
        let mut rest = values;
        while !rest.is_empty() {
            let strip = 4 * (LOW_BLOCKS - source.first / 4 % LOW_BLOCKS);
            let (now, later) = rest.split_at_mut(strip.min(rest.len() as u64) as usize);
            // SAFETY: `new` chose an instruction set that this processor has.
            unsafe { (self.instruction_set.fill_gaussians)(&self.tables, source, now) };
            source.first += strip;
            rest = later;
        }
    }
}

/// Writes the numbers of one strip.
///
/// # Safety
/// The processor has the instruction set of `L`, and this is inlined into a function compiled for it.
#[inline(always)]
pub unsafe fn fill<L: Lanes>(tables: &Tables<FOR_SINGLE_VALUES>, source: Source, values: &mut [f32]) {
    // SAFETY: the caller guarantees the instruction set.
    unsafe {
        let near = tables.near.each_ref().map(|table| L::load_table(table));
        let keys = source.stream.round_keys().map(|key| L::load_key(key));
        let mut counters = L::load_counters([0, 1, 2, 3].map(|i| {
            Stream::long_counter(Purpose::TrainingNoise, source.world, source.trial, source.first / 4 + i)
        }));
        let mut place = [0.0; LANES];
        for (at, chunk) in (source.first..).step_by(LANES).zip(values.chunks_mut(LANES)) {
            let words = L::random_words(&keys, counters);
            for _ in 0..4 {
                counters = L::next_draw(counters);
            }
            let numbers = L::evaluate(&near, words);
            let is_near = L::bits(L::is_near(words));
            if let (Ok(whole), u16::MAX) = (<&mut [f32; LANES]>::try_from(&mut *chunk), is_near) {
                L::store(numbers, whole);
                continue;
            }
            L::store(numbers, &mut place);
            let words = L::words_to_array(words);
            for lane in 0..LANES {
                if words[lane] < FIRST_NEAR_WORD {
                    place[lane] = far(tables, source, words[lane], at + lane as u64);
                }
            }
            chunk.copy_from_slice(&place[..chunk.len()]);
        }
    }
}

/// The number of a word that is not in a near segment.
#[inline(always)]
fn far(tables: &Tables<FOR_SINGLE_VALUES>, source: Source, word: u32, index: u64) -> f32 {
    let (sign, magnitude) = sign_and_magnitude(word);
    if magnitude >= FIRST_BODY_MAGNITUDE {
        return tables.far_body(sign, magnitude);
    }
    gaussian(word, || source.stream.training_tail(source.world, source.trial, index)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::Setting;

    /// Compares every instruction set with the exact numbers: from the first number, across 2^32 blocks, and with odd
    /// lengths.
    #[test]
    fn all_instruction_sets_fill_the_stream_s_numbers() {
        let stream = Stream::new(&Setting { seed: 3, ..Setting::default() }.hash());
        for (first, length) in [(0, 70_000), (4 * LOW_BLOCKS - 32, 77), (16, 5), (160, 16)] {
            let mut filled = vec![];
            for set in INSTRUCTION_SETS.iter().filter(|set| (set.is_available)()) {
                let mut values = vec![0.0; length];
                Gaussians { tables: Tables::for_gaussians(), instruction_set: *set }.fill(
                    &stream,
                    World::Out,
                    9,
                    first,
                    &mut values,
                );
                filled.push(values);
            }
            for values in &filled {
                assert_eq!(values, &filled[0]);
            }
            for (index, &value) in (first..).zip(&filled[0]) {
                let exact = stream.training_gaussian(World::Out, 9, index);
                assert!((f64::from(value) - exact).abs() < 4e-7, "{index}: {value} {exact}");
            }
        }
    }
}
