//! Random words as functions of a counter, from AES-256.

use super::Seed;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use aes::{Aes256, Block};
use std::fmt;

/// What words are for. Words of different purposes are independent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// The records of a Poisson batch.
    Gaps = 1,
    /// The number of records in each bin of an epoch.
    Sizes = 2,
    /// The order of the records of an epoch, drawn as a list.
    Order = 3,
    /// The order of the records of an epoch, as a Feistel network.
    Rounds = 4,
}

/// A keyed random function of 128 bits.
pub(super) struct Generator {
    cipher: Aes256,
}

impl Generator {
    pub(super) fn new(seed: &Seed, words: &str) -> Self {
        Generator { cipher: Aes256::new(&Array::from(seed.key(words))) }
    }

    /// The random words at (`purpose`, `place`, `part`), as many as are asked for.
    ///
    /// `place` is below 2^56, and `part` below 2^48.
    pub(super) fn words(&self, purpose: Purpose, place: u64, part: u64) -> Words<'_> {
        let counter = counter(purpose, place, part << 16);
        Words { generator: self, counter, ready: [0; 2 * BLOCKS], next: 2 * BLOCKS }
    }

    /// Replaces counters by random bits, 64 of each block.
    pub(super) fn encrypt(&self, blocks: &mut [Block]) {
        self.cipher.encrypt_blocks(blocks);
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Generator(secret)")
    }
}

/// The counter of a block: 8 bits of purpose, 56 of place, 64 of whatever the purpose counts.
pub(super) fn counter(purpose: Purpose, place: u64, count: u64) -> u128 {
    (purpose as u128) << 120 | u128::from(place) << 64 | u128::from(count)
}

/// The block that holds a counter.
pub(super) fn block(counter: u128) -> Block {
    Array::from(counter.to_le_bytes())
}

/// The first 64 bits of a block.
pub(super) fn first_word(block: &Block) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| block[i]))
}

/// Blocks that are encrypted together: a processor with AES instructions works on several at once.
const BLOCKS: usize = 8;

/// Random words, one after another.
pub(super) struct Words<'a> {
    generator: &'a Generator,
    counter: u128,
    ready: [u64; 2 * BLOCKS],
    next: usize,
}

impl Words<'_> {
    /// The next 64 random bits.
    pub(super) fn word(&mut self) -> u64 {
        if self.next == self.ready.len() {
            let mut blocks: [Block; BLOCKS] = std::array::from_fn(|i| block(self.counter + i as u128));
            self.generator.encrypt(&mut blocks);
            for (pair, block) in self.ready.chunks_exact_mut(2).zip(&blocks) {
                let bits = u128::from_le_bytes(std::array::from_fn(|i| block[i]));
                pair.copy_from_slice(&[bits as u64, (bits >> 64) as u64]);
            }
            self.counter += BLOCKS as u128;
            self.next = 0;
        }
        self.next += 1;
        self.ready[self.next - 1]
    }

    /// A uniform number above 0 and at most 1, with a relative error below 2^-52 even where it is tiny.
    pub(super) fn unit(&mut self) -> f64 {
        let high = self.word();
        if high >> 53 > 0 {
            return (high as f64 + 0.5) * 2.0_f64.powi(-64);
        }
        let bits = u128::from(high) << 64 | u128::from(self.word());
        (bits as f64 + 0.5) * 2.0_f64.powi(-128)
    }

    /// A uniform whole number below `count`, exactly.
    ///
    /// Source: Lemire, "Fast random integer generation in an interval" (2019).
    pub(super) fn below(&mut self, count: u64) -> u64 {
        loop {
            let product = u128::from(self.word()) * u128::from(count);
            let low = product as u64;
            // The second comparison is exact, and rarely needed.
            if low >= count || low >= count.wrapping_neg() % count {
                return (product >> 64) as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_functions_of_seed_purpose_place_and_part() {
        let generator = Generator::new(&Seed::from_number(1), "a");
        let first = |generator: &Generator, purpose, place, part| {
            let mut words = generator.words(purpose, place, part);
            (0..40).map(|_| words.word()).collect::<Vec<_>>()
        };
        let base = first(&generator, Purpose::Gaps, 5, 6);
        assert_eq!(base, first(&generator, Purpose::Gaps, 5, 6));
        let others = [
            first(&generator, Purpose::Sizes, 5, 6),
            first(&generator, Purpose::Gaps, 4, 6),
            first(&generator, Purpose::Gaps, 5, 7),
            first(&Generator::new(&Seed::from_number(1), "b"), Purpose::Gaps, 5, 6),
            first(&Generator::new(&Seed::from_number(2), "a"), Purpose::Gaps, 5, 6),
        ];
        for other in others {
            assert!(base.iter().zip(&other).all(|(one, another)| one != another));
        }
    }

    /// The known answer of AES-256 (FIPS 197, appendix C.3): the cipher is the standard one, whichever instructions compute it.
    #[test]
    fn the_cipher_gives_its_known_answer() {
        let cipher = Aes256::new(&Array::from(std::array::from_fn::<u8, 32, _>(|i| i as u8)));
        let mut block: Block = Array::from(std::array::from_fn::<u8, 16, _>(|i| 0x11 * i as u8));
        cipher.encrypt_block(&mut block);
        assert_eq!(
            u128::from_be_bytes(std::array::from_fn(|i| block[i])),
            0x8ea2b7ca_516745bf_eafc4990_4b496089
        );
    }

    #[test]
    fn whole_numbers_below_a_count_are_uniform() {
        let generator = Generator::new(&Seed::from_number(3), "a");
        let mut words = generator.words(Purpose::Order, 0, 0);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[words.below(7) as usize] += 1;
        }
        // Each count is within 5.6 standard deviations with probability 1 - 2e-8.
        assert!(counts.iter().all(|&count| (f64::from(count) - 1e4).abs() < 5.6 * 93.0), "{counts:?}");
        assert_eq!(words.below(1), 0);
    }
}
