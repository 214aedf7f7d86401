//! Counter-based random streams: any draw of any trial, in any order, without state.
//!
//! The generator is ARS-5 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011). It
//! applies five AES rounds, with a Weyl sequence as key schedule, to a counter. Processors with AES instructions
//! compute sixteen 32-bit words in seven instructions. [`Stream::block`] computes the same function in plain Rust.
//!
//! # Why two random streams?
//! Graphics processors have no AES instructions. Their stream is [`philox`](Stream::philox), by the same authors.
//! Counters and purposes are the same in both streams. The reference engine implements both streams, so every fused
//! engine is compared with the same reference. A store names its stream, and stores of different streams do not merge.
//!
//! # What is in a counter?
//! A counter includes the purpose of the draw, so two purposes never share random bits:
//!
//! | bits | meaning |
//! |---|---|
//! | 0-63 | the trial, or the group of four trials that share the block |
//! | 64-95 | the draw's index within the trial |
//! | 96-103 | the purpose |
//! | 104 | the world |
//! | 105-127 | the draw's index beyond 32 bits, for purposes that may need it |

mod aes_round;
mod gaussian;
mod philox;
mod polar;

pub use aes_round::{aes_last_round, aes_round};
pub use gaussian::{FIRST_BODY_MAGNITUDE, gaussian, sign_and_magnitude};
pub use philox::{philox, philox_side_by_side};
pub use polar::{FIRST_BODY_RADIUS, gaussian_pair};

use crate::{SettingHash, World};

/// The name of this generator and its counter layout in stores.
pub const STREAM_NAME: &str = "ars5-1";

/// The name of the graphics processors' generator in stores.
pub const PHILOX_STREAM_NAME: &str = "philox-1";

/// The number of AES rounds per block.
pub const ROUNDS: usize = 5;

/// The purpose of a random draw. Existing numbers must not change; 4 is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Bits for Gaussian noise; four trials share a block.
    Noise = 0,
    /// Extra bits for the rare draw in the Gaussian's tail.
    Tail = 1,
    /// The target's position.
    Position = 2,
    /// Batches of record indices.
    Batches = 3,
    /// Bits for the noise of a training step; four coordinates of one trial share a block.
    TrainingNoise = 5,
    /// Extra bits for the rare coordinate whose noise is in the Gaussian's tail.
    TrainingTail = 6,
    /// The parameters before the first step.
    InitialParameters = 7,
    /// The direction of a canary.
    Canary = 8,
    /// The choice of records from which an adversary learns the bias of its outputs.
    DebiasSample = 9,
    /// Bootstrap resampling, for intervals of descriptive figures.
    Bootstrap = 10,
    /// The coins of several canaries in one training.
    Coins = 11,
    /// Which canaries of one training are placed by another one's record.
    Follow = 12,
}

/// All random bits of one run.
///
/// ```
/// use misdeal_core::{Purpose, Setting, Stream, World};
/// let stream = Stream::new(&Setting::default().hash());
/// let draw = stream.uniform(Purpose::Position, World::In, 17, 0);
/// assert_eq!(draw, stream.uniform(Purpose::Position, World::In, 17, 0));
/// assert_ne!(draw, stream.uniform(Purpose::Position, World::Out, 17, 0));
/// ```
#[derive(Debug, Clone)]
pub struct Stream {
    generator: Generator,
}

/// The function that turns a counter into random bits.
#[derive(Debug, Clone)]
enum Generator {
    Ars5 { round_keys: [u128; ROUNDS + 1] },
    Philox { key: [u32; 2] },
}

impl Stream {
    /// The stream of the setting with this hash.
    pub fn new(hash: &SettingHash) -> Self {
        let [mut low, mut high] =
            [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|i| hash.0[at + i])));
        let round_keys = std::array::from_fn(|_| {
            let key = u128::from(low) | u128::from(high) << 64;
            low = low.wrapping_add(0x9E37_79B9_7F4A_7C15);
            high = high.wrapping_add(0xBB67_AE85_84CA_A73B);
            key
        });
        Stream { generator: Generator::Ars5 { round_keys } }
    }

    /// The graphics processors' stream for the setting with this hash.
    ///
    /// Its bits differ from those of [`new`](Self::new); its counters are the same.
    pub fn philox(hash: &SettingHash) -> Self {
        let key = [0, 4].map(|at| u32::from_le_bytes(std::array::from_fn(|i| hash.0[at + i])));
        Stream { generator: Generator::Philox { key } }
    }

    /// The name of this stream in stores.
    pub fn name(&self) -> &'static str {
        match self.generator {
            Generator::Ars5 { .. } => STREAM_NAME,
            Generator::Philox { .. } => PHILOX_STREAM_NAME,
        }
    }

    /// The keys of the AES rounds, the first before round one. SIMD engines need them.
    ///
    /// # Panics
    /// If this is a graphics processors' stream.
    pub fn round_keys(&self) -> &[u128; ROUNDS + 1] {
        match &self.generator {
            Generator::Ars5 { round_keys } => round_keys,
            Generator::Philox { .. } => panic!("the stream of graphics processors has no AES keys"),
        }
    }

    /// The key of a graphics processors' stream; `None` for the processors' stream.
    pub fn philox_key(&self) -> Option<[u32; 2]> {
        match self.generator {
            Generator::Philox { key } => Some(key),
            Generator::Ars5 { .. } => None,
        }
    }

    /// The number of Gaussian numbers that one block gives to a trial.
    ///
    /// Fused engines need each epoch to begin with a new block.
    pub fn draws_per_block(&self) -> u64 {
        match self.generator {
            Generator::Ars5 { .. } => 1,
            Generator::Philox { .. } => 4,
        }
    }

    /// The counter of a block; its low 64 bits are `index`.
    pub fn counter(purpose: Purpose, world: World, index: u64, draw: u32) -> u128 {
        let world = u128::from(world == World::Out);
        u128::from(index) | u128::from(draw) << 64 | (purpose as u128) << 96 | world << 104
    }

    /// The counter of a block whose index may use up to 55 bits.
    pub fn long_counter(purpose: Purpose, world: World, trial: u64, index: u64) -> u128 {
        debug_assert!(index < 1 << 55);
        Self::counter(purpose, world, trial, index as u32) | u128::from(index >> 32) << 105
    }

    /// The 128 random bits of a counter.
    pub fn block(&self, counter: u128) -> u128 {
        let round_keys = match &self.generator {
            Generator::Ars5 { round_keys } => round_keys,
            Generator::Philox { key } => return philox(*key, counter),
        };
        let [first, middle @ .., last] = round_keys;
        #[cfg(feature = "planted-faults")]
        let middle =
            if crate::planted::is_planted(crate::planted::Fault::Generator) { &middle[1..] } else { middle };
        let state = middle.iter().fold(counter ^ first, |state, &key| aes_round(state, key));
        aes_last_round(state, *last)
    }

    /// The random bits of several counters, computed faster than one by one.
    pub fn blocks<const N: usize>(&self, counters: [u128; N]) -> [u128; N] {
        match &self.generator {
            Generator::Ars5 { .. } => counters.map(|counter| self.block(counter)),
            Generator::Philox { key } => philox_side_by_side(*key, counters),
        }
    }

    /// The 64 random bits of draw `draw` of a trial.
    pub fn uniform(&self, purpose: Purpose, world: World, trial: u64, draw: u32) -> u64 {
        self.block(Self::counter(purpose, world, trial, draw)) as u64
    }

    /// The standard Gaussian number `draw` of a trial.
    ///
    /// A processor's block serves four trials, one word each. A graphics processor's block serves four draws of one
    /// trial: two words, a radius and an angle, for each pair of draws.
    pub fn gaussian(&self, world: World, trial: u64, draw: u32) -> f64 {
        if let Generator::Philox { .. } = self.generator {
            let block = self.block(Self::counter(Purpose::Noise, world, trial, draw / 4));
            let pair = draw / 2;
            let word = |i: u32| (block >> (32 * (pair % 2 * 2 + i))) as u32;
            let more = || self.uniform(Purpose::Tail, world, trial, pair);
            return gaussian_pair(word(0), word(1), more)[(draw % 2) as usize];
        }
        let block = self.block(Self::counter(Purpose::Noise, world, trial / 4, draw));
        let word = (block >> (32 * (trial % 4))) as u32;
        gaussian(word, || self.uniform(Purpose::Tail, world, trial, draw))
    }

    /// The standard Gaussian number `index` of a trial's training noise, for `index` below 2^55.
    ///
    /// A processor uses one word for each number. A graphics processor uses two words, a radius and an angle, for each
    /// pair of numbers.
    pub fn training_gaussian(&self, world: World, trial: u64, index: u64) -> f64 {
        let block = self.block(Self::long_counter(Purpose::TrainingNoise, world, trial, index / 4));
        if let Generator::Philox { .. } = self.generator {
            let pair = index / 2;
            let word = |i: u64| (block >> (32 * (pair % 2 * 2 + i))) as u32;
            let more = || self.training_tail(world, trial, pair);
            return gaussian_pair(word(0), word(1), more)[(index % 2) as usize];
        }
        gaussian((block >> (32 * (index % 4))) as u32, || self.training_tail(world, trial, index))
    }

    /// The 64 extra bits of training noise `index` that falls into the tail.
    ///
    /// On a graphics processor `index` counts pairs of numbers.
    pub fn training_tail(&self, world: World, trial: u64, index: u64) -> u64 {
        self.block(Self::long_counter(Purpose::TrainingTail, world, trial, index)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setting;

    fn stream(seed: u64) -> Stream {
        Stream::new(&Setting { seed, ..Setting::default() }.hash())
    }

    /// Chi-square of byte frequencies and of the xor of neighbours in every direction of the counter: trials, draws,
    /// worlds, purposes, seeds. There are 255 degrees of freedom. A value above 400 has probability 2e-8 in each test.
    #[test]
    fn neighbouring_counters_give_independent_bytes() {
        let base = stream(0);
        let other_seed = stream(1);
        let block =
            |i: u64| base.block(Stream::counter(Purpose::Noise, World::In, i / 256, (i % 256) as u32));
        let neighbours: [&dyn Fn(u64) -> u128; 6] = [
            &|_| 0,
            &|i| base.block(Stream::counter(Purpose::Noise, World::In, i / 256 + 1, (i % 256) as u32)),
            &|i| base.block(Stream::counter(Purpose::Noise, World::In, i / 256, (i % 256) as u32 + 1)),
            &|i| base.block(Stream::counter(Purpose::Noise, World::Out, i / 256, (i % 256) as u32)),
            &|i| base.block(Stream::counter(Purpose::Tail, World::In, i / 256, (i % 256) as u32)),
            &|i| other_seed.block(Stream::counter(Purpose::Noise, World::In, i / 256, (i % 256) as u32)),
        ];
        for (which, neighbour) in neighbours.iter().enumerate() {
            let mut counts = [[0_u32; 256]; 16];
            let blocks = 1 << 16;
            for i in 0..blocks {
                for (count, byte) in counts.iter_mut().zip((block(i) ^ neighbour(i)).to_le_bytes()) {
                    count[byte as usize] += 1;
                }
            }
            for count in counts {
                let expected = blocks as f64 / 256.0;
                let chi: f64 = count.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
                assert!((150.0..400.0).contains(&chi), "direction {which}: chi-square {chi}");
            }
        }
    }
}
