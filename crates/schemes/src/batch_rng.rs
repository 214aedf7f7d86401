//! The random generator for batches: `rand`'s interface to the counter-based stream.

use misdeal_core::{Purpose, Stream, World};
use rand::rand_core::{TryRng, utils};
use std::convert::Infallible;

/// The random words for one trial's batches.
///
/// They are the blocks 0, 1, 2, ... of [`Purpose::Batches`], lowest word first.
///
/// The words are a function of (stream, world, trial). A block's index uses the 32 bits of the stream's draw index,
/// then the counter's free bits from 105 on. This gives 2^55 blocks, more than any trial can use.
///
/// ```
/// use misdeal_core::{Setting, Stream, World};
/// use misdeal_schemes::BatchRng;
/// use rand::seq::SliceRandom;
/// let stream = Stream::new(&Setting::default().hash());
/// let mut cards = [1, 2, 3, 4];
/// cards.shuffle(&mut BatchRng::new(&stream, World::In, 0));
/// ```
#[derive(Debug, Clone)]
pub struct BatchRng {
    stream: Stream,
    world: World,
    trial: u64,
    next_block: u64,
    /// The words of the last blocks computed. Those from `next_word` on are not used yet.
    words: [u32; 4 * BLOCKS],
    next_word: usize,
}

/// The number of blocks that are computed side by side.
const BLOCKS: usize = 8;

impl BatchRng {
    /// The generator of one trial, before its first word.
    pub fn new(stream: &Stream, world: World, trial: u64) -> Self {
        BatchRng {
            stream: stream.clone(),
            world,
            trial,
            next_block: 0,
            words: [0; 4 * BLOCKS],
            next_word: 4 * BLOCKS,
        }
    }

    fn counters(&self) -> [u128; BLOCKS] {
        std::array::from_fn(|i| {
            Stream::long_counter(Purpose::Batches, self.world, self.trial, self.next_block + i as u64)
        })
    }

    fn next_word(&mut self) -> u32 {
        if self.next_word == self.words.len() {
            let blocks = self.stream.blocks(self.counters());
            self.words = std::array::from_fn(|i| (blocks[i / 4] >> (32 * (i % 4))) as u32);
            self.next_word = 0;
            self.next_block += BLOCKS as u64;
        }
        self.next_word += 1;
        self.words[self.next_word - 1]
    }
}

impl TryRng for BatchRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next_word())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        utils::next_u64_via_u32(self)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        utils::fill_bytes_via_next_word(bytes, || self.try_next_u32())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::Setting;
    use rand::Rng;

    #[test]
    fn words_are_the_blocks_of_the_stream_in_order() {
        let stream = Stream::new(&Setting::default().hash());
        let mut rng = BatchRng::new(&stream, World::Out, 5);
        for draw in 0..3 * BLOCKS as u32 {
            let block = stream.block(Stream::counter(Purpose::Batches, World::Out, 5, draw));
            assert_eq!(rng.next_u64(), block as u64);
            assert_eq!([rng.next_u32(), rng.next_u32()], [(block >> 64) as u32, (block >> 96) as u32]);
        }
    }

    #[test]
    fn counters_do_not_repeat_after_32_bits_of_blocks() {
        let stream = Stream::new(&Setting::default().hash());
        let mut rng = BatchRng::new(&stream, World::In, 5);
        let mut counters = vec![];
        for block in [0, 8, u64::from(u32::MAX), (1 << 32) + 8, (1 << 32) + 16, 1 << 33, 1 << 54] {
            rng.next_block = block;
            for counter in rng.counters() {
                assert_eq!(counter >> 96 & 0x1ff, Purpose::Batches as u128, "purpose and world are kept");
                counters.push(counter);
            }
        }
        counters.sort_unstable();
        counters.dedup();
        assert_eq!(counters.len(), 7 * BLOCKS);
    }
}
