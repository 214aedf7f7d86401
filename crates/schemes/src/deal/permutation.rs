//! A secret random order of the records of an epoch, both ways: the record at a place, and the place of a record.
//!
//! # Small data sets
//! Up to 2^16 records the order is a list that is shuffled exactly (Fisher and Yates). It takes 512 KB. Small domains are where Feistel networks
//! are weak.
//!
//! # Large data sets
//! A Feistel network on pairs (l, r) with l < a, r < b, a b >= n, where a and b are near the square root of n. Twelve rounds add a keyed random
//! function of one half to the other, in turn. Pairs that stand for no record are permuted again until they stand for one ("cycle walking"), which is
//! rare, because a b - n < a. A permutation that is restricted in this way stays uniform if it was.
//!
//! # What is assumed of it?
//! That the network cannot be told from a uniform permutation. With independent random functions, Luby and Rackoff (1988) and those after them prove this for
//! few inputs, and the best known general attacks (Patarin, "Generic attacks on Feistel schemes", 2001) need at least 2^((R - 6) k) permutations
//! when all inputs of R rounds on halves of k bits are known. That is 2^48 epochs for R = 12 and k = 8, the smallest network here. NIST's
//! FF1 has ten rounds. Here, moreover, nobody sees an input or an output: they see sums of gradients under noise. Each
//! random function is uniform with a relative error below 2^-38.

use super::generator::{Generator, Purpose, block, counter, first_word};
use aes::Block;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The largest data set whose order is a list.
const LARGEST_LIST: u64 = 1 << 16;

/// The number of rounds of the network.
const ROUNDS: u64 = 12;

/// Inputs that go through the network side by side.
const ABREAST: usize = 256;

/// An order that is a list, in both directions.
#[derive(Debug)]
pub(super) struct Listed {
    epoch: u64,
    records: Vec<u32>,
    places: Vec<u32>,
}

/// The last epoch's list, so that the next batch of the epoch needs no new one.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Option<Arc<Listed>>>);

/// The order of one epoch.
#[derive(Debug)]
pub(super) enum Order<'a> {
    Listed(Arc<Listed>),
    Feistel(Feistel<'a>),
}

impl<'a> Order<'a> {
    pub(super) fn new(generator: &'a Generator, epoch: u64, records: u64, kept: &Kept) -> Self {
        if records > LARGEST_LIST {
            return Self::Feistel(Feistel::new(generator, epoch, records));
        }
        let mut kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some(listed) if listed.epoch == epoch => Self::Listed(Arc::clone(listed)),
            _ => {
                let listed = Arc::new(Listed::new(generator, epoch, records));
                *kept = Some(Arc::clone(&listed));
                Self::Listed(listed)
            }
        }
    }

    /// Appends the records at consecutive places.
    pub(super) fn append_records(&self, places: Range<u64>, records: &mut Vec<u64>) {
        match self {
            Self::Listed(listed) => {
                records.extend(
                    listed.records[places.start as usize..places.end as usize]
                        .iter()
                        .map(|&record| u64::from(record)),
                );
            }
            Self::Feistel(network) => {
                let first = records.len();
                records.extend(places);
                records[first..].chunks_mut(ABREAST).for_each(|chunk| network.to_records(chunk));
            }
        }
    }

    /// The place of a record.
    pub(super) fn place(&self, record: u64) -> u64 {
        match self {
            Self::Listed(listed) => listed.places[record as usize].into(),
            Self::Feistel(network) => network.place(record),
        }
    }
}

impl Listed {
    fn new(generator: &Generator, epoch: u64, count: u64) -> Self {
        let mut words = generator.words(Purpose::Order, epoch, 0);
        let mut records: Vec<u32> = (0..count as u32).collect();
        for last in (1..records.len()).rev() {
            records.swap(last, words.below(last as u64 + 1) as usize);
        }
        let mut places = vec![0; records.len()];
        for (place, &record) in (0..).zip(&records) {
            places[record as usize] = place;
        }
        Listed { epoch, records, places }
    }
}

/// The network of one epoch.
#[derive(Debug)]
pub(super) struct Feistel<'a> {
    generator: &'a Generator,
    epoch: u64,
    records: u64,
    /// The number of left halves, and of right ones.
    sizes: [u64; 2],
}

impl<'a> Feistel<'a> {
    fn new(generator: &'a Generator, epoch: u64, records: u64) -> Self {
        let mut left = (records as f64).sqrt() as u64;
        left += u64::from(left * left < records);
        let left = left.max(1);
        Feistel { generator, epoch, records, sizes: [left, records.div_ceil(left)] }
    }

    /// Applies all rounds backwards, once, to each value.
    fn backwards(&self, values: &mut [u64]) {
        let mut halves = [[0_u64; ABREAST]; 2];
        let mut blocks = [Block::default(); ABREAST];
        let blocks = &mut blocks[..values.len()];
        let [left, right] = self.sizes;
        for (i, &value) in values.iter().enumerate() {
            halves[0][i] = value / right;
            halves[1][i] = value % right;
        }
        for round in (0..ROUNDS).rev() {
            // Even rounds change the left half, odd rounds the right one.
            let changed = (round % 2) as usize;
            let size = [left, right][changed];
            self.functions(round, &halves[1 - changed][..blocks.len()], blocks);
            for (half, block) in halves[changed].iter_mut().zip(&*blocks) {
                let moved = *half + size - scaled(first_word(block), size);
                *half = if moved >= size { moved - size } else { moved };
            }
        }
        for (i, value) in values.iter_mut().enumerate() {
            *value = halves[0][i] * right + halves[1][i];
        }
    }

    /// Applies all rounds once to a value.
    fn forwards(&self, value: u64) -> u64 {
        let mut halves = [value / self.sizes[1], value % self.sizes[1]];
        for round in 0..ROUNDS {
            let changed = (round % 2) as usize;
            let mut blocks = [Block::default()];
            self.functions(round, &halves[1 - changed..2 - changed], &mut blocks);
            let size = self.sizes[changed];
            halves[changed] = (halves[changed] + scaled(first_word(&blocks[0]), size)) % size;
        }
        halves[0] * self.sizes[1] + halves[1]
    }

    /// The random bits of a round for each input.
    fn functions(&self, round: u64, inputs: &[u64], blocks: &mut [Block]) {
        for (one, &input) in blocks.iter_mut().zip(inputs) {
            *one = block(counter(Purpose::Rounds, self.epoch, round << 56 | input));
        }
        self.generator.encrypt(blocks);
    }

    /// Replaces places by records.
    fn to_records(&self, values: &mut [u64]) {
        self.backwards(values);
        for value in values {
            while *value >= self.records {
                self.backwards(std::slice::from_mut(value));
            }
        }
    }

    fn place(&self, record: u64) -> u64 {
        let mut place = self.forwards(record);
        while place >= self.records {
            place = self.forwards(place);
        }
        place
    }
}

/// A uniform number below `count` from 64 random bits, with a relative error below `count` / 2^64.
fn scaled(bits: u64, count: u64) -> u64 {
    ((u128::from(bits) * u128::from(count)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::super::Seed;
    use super::*;
    use libm::log;

    fn generator(seed: u64) -> Generator {
        Generator::new(&Seed::from_number(seed), "order")
    }

    #[test]
    fn both_directions_are_inverse_permutations() {
        for records in [1, 2, 3, 12, 100, 101, 65_536, 65_537, 70_001, 99_856, 100_000] {
            let generator = generator(records);
            let kept = Kept::default();
            let orders = [
                Order::new(&generator, 3, records, &kept),
                Order::Feistel(Feistel::new(&generator, 3, records)),
            ];
            for order in orders {
                let mut listed = vec![];
                order.append_records(0..records, &mut listed);
                for (place, &record) in (0..).zip(&listed).step_by(37) {
                    assert_eq!(order.place(record), place);
                }
                let mut part = vec![];
                order.append_records(records / 3..records / 2, &mut part);
                assert_eq!(part, listed[(records / 3) as usize..(records / 2) as usize]);
                listed.sort_unstable();
                assert!(listed.into_iter().eq(0..records));
            }
        }
    }

    #[test]
    fn trillions_of_records_have_places() {
        let generator = generator(1);
        for records in [1_000_000_000_000, 1 << 50, (1 << 50) - 1] {
            let order = Order::new(&generator, 0, records, &Kept::default());
            let mut found = vec![];
            order.append_records(records - 1000..records, &mut found);
            for (place, &record) in (records - 1000..).zip(&found) {
                assert_eq!(order.place(record), place);
            }
        }
    }

    /// The places of two records are each of the pairs equally often: in the list, and in a network far smaller than any that is used.
    /// By relative entropy (Agrawal, 2020), at 1e-8 for each of four comparisons.
    #[test]
    fn pairs_of_places_are_uniform() {
        const SEEDS: u64 = 60_000;
        const RECORDS: u64 = 12;
        let orders: [fn(&Generator, u64) -> Order<'_>; 2] = [
            |generator, epoch| Order::Feistel(Feistel::new(generator, epoch, RECORDS)),
            |generator, epoch| Order::new(generator, epoch, RECORDS, &Kept::default()),
        ];
        let generator = generator(9);
        for order in orders {
            for [one, other] in [[0, 1], [3, 9]] {
                let mut counts = [0_u32; (RECORDS * RECORDS) as usize];
                for epoch in 0..SEEDS {
                    let order = order(&generator, epoch);
                    counts[(order.place(one) * RECORDS + order.place(other)) as usize] += 1;
                }
                let pairs = (RECORDS * (RECORDS - 1)) as f64;
                assert_eq!(counts.iter().filter(|&&count| count > 0).count() as f64, pairs);
                let entropy: f64 = (counts.iter().filter(|&&count| count > 0))
                    .map(|&count| f64::from(count) * log(f64::from(count) * pairs / SEEDS as f64))
                    .sum();
                let freedom = pairs - 1.0;
                let log_p =
                    if entropy > freedom { freedom * (1.0 + log(entropy / freedom)) - entropy } else { 0.0 };
                assert!(log_p > log(1e-8), "{entropy}");
            }
        }
    }

    /// In the smallest network that is used, the number of records that keep their side of the file, and of neighbours that stay neighbours, over
    /// 20 epochs. Normal deviates below 5.6: 2e-8 each.
    #[test]
    fn networks_mix_sides_and_neighbours() {
        let generator = generator(4);
        let records = LARGEST_LIST + 1;
        let half = records / 2;
        let (mut kept, mut near) = (0.0, 0.0);
        let epochs = 20;
        for epoch in 0..epochs {
            let order = Order::new(&generator, epoch, records, &Kept::default());
            let mut listed = vec![];
            order.append_records(0..records, &mut listed);
            kept += listed[..half as usize].iter().filter(|&&record| record < half).count() as f64;
            near += listed.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) == 1).count() as f64;
        }
        let n = records as f64;
        let (mean, variance) = (epochs as f64 * n / 4.0, epochs as f64 * n / 16.0);
        assert!(((kept - mean) / variance.sqrt()).abs() < 5.6, "{kept} of {mean}");
        let mean = epochs as f64 * 2.0 * (n - 1.0) / n;
        assert!((near - mean).abs() < 5.6 * mean.sqrt() + 10.0, "{near} of {mean}");
    }
}
