//! Schemes that use each record once, described as a sequence of uniform choices.
//!
//! Shuffles, blocks and sliding buffers differ only in the records that are possible at position j. These are the records below a
//! bound that were not used yet, all with the same probability. With c_j such records at position j, a possible order has the
//! probability product of 1 / c_j. The ranks of the chosen among the possible records are independent and uniform.
//!
//! The estimated buffer size is the smallest at which the log is possible. The probability that a full shuffle gives an order that
//! a smaller buffer could have made is exactly the ratio of the two likelihoods.

use crate::logged_epochs::LoggedEpoch;
use libm::{lgamma, log};
use misdeal_core::{Setting, Stream, World};
use misdeal_schemes::BatchRng;
use rand::Rng;

/// The records that are possible at a position: all unused records below a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choices {
    /// All records.
    All,
    /// The records of the position's block of this size.
    Block(usize),
    /// The records that a sliding buffer of this size has read.
    Sliding(usize),
    /// The records in a sliding buffer of this size that is refilled when half of them, rounded up, have left.
    ///
    /// Newer versions of Hugging Face's `datasets` do this.
    RefilledByHalves(usize),
}

impl Choices {
    /// The bound at position `place`: every record below it was used before or is possible there.
    pub fn bound(self, place: usize, dataset_size: usize) -> usize {
        match self {
            Self::All => dataset_size,
            Self::Block(size) => ((place / size + 1) * size).min(dataset_size),
            Self::Sliding(size) => (place + size).min(dataset_size),
            Self::RefilledByHalves(size) => (place / half(size) * half(size) + size).min(dataset_size),
        }
    }

    /// Logarithm of the probability of a possible order: minus the sum of ln c_j.
    ///
    /// The order contains the first `dealt` of `dataset_size` records.
    pub fn log_probability(self, dealt: usize, dataset_size: usize) -> f64 {
        let log_factorial = |count: usize| lgamma(count as f64 + 1.0);
        // Orders of the first `dealt` records, when `records` records are in random order.
        let arrangements =
            |records: usize, dealt: usize| log_factorial(records) - log_factorial(records - dealt);
        match self {
            Self::All => -arrangements(dataset_size, dealt),
            Self::Block(size) => {
                let size = size.min(dataset_size);
                let (whole, rest) = (dealt / size, dealt % size);
                let last = (dataset_size - whole * size).min(size);
                -(whole as f64 * log_factorial(size) + arrangements(last, rest))
            }
            Self::Sliding(size) => {
                let full = dataset_size.saturating_sub(size).min(dealt);
                let left = dataset_size - full;
                -(full as f64 * log(size as f64) + arrangements(left, dealt - full))
            }
            Self::RefilledByHalves(_) => {
                let possible = |place: usize| (self.bound(place, dataset_size) - place) as f64;
                -(0..dealt).map(|place| log(possible(place))).sum::<f64>()
            }
        }
    }

    /// Whether every record of an epoch is possible at its position.
    pub fn allows(self, epoch: &LoggedEpoch, dataset_size: usize) -> bool {
        let mut places = epoch.records.iter().enumerate();
        places.all(|(place, &record)| (record as usize) < self.bound(place, dataset_size))
    }

    /// Logarithm of the number of possible orders within steps; `None` if there are none. Steps must be sorted.
    ///
    /// Within a step, the bound only grows. The number is therefore a product over positions, whichever records are chosen.
    pub fn log_inner_orders(
        self,
        epoch: &LoggedEpoch,
        dataset_size: usize,
        logarithms: &[f64],
    ) -> Option<f64> {
        let mut sum = 0.0;
        let mut start = 0;
        for &end in &epoch.ends {
            let step = &epoch.records[start..end];
            let mut possible = 0;
            for place in start..end {
                let bound = self.bound(place, dataset_size);
                while possible < step.len() && (step[possible] as usize) < bound {
                    possible += 1;
                }
                let left = possible.checked_sub(place - start)?;
                if left == 0 {
                    return None;
                }
                sum += logarithms[left];
            }
            start = end;
        }
        Some(sum)
    }

    /// Replaces the order within each sorted step by a random possible order, all equally likely.
    ///
    /// The result is a function of `epoch_index`. Steps without a possible order stay unchanged.
    pub fn with_inner_orders(
        self,
        epoch: &LoggedEpoch,
        dataset_size: usize,
        epoch_index: u64,
    ) -> LoggedEpoch {
        let stream = Stream::new(&Setting::default().hash());
        let mut rng = BatchRng::new(&stream, World::In, epoch_index);
        let mut below = move |count: usize| ((u64::from(rng.next_u32()) * count as u64) >> 32) as usize;
        let mut ordered = epoch.clone();
        let mut start = 0;
        for &end in &epoch.ends {
            let step = &mut ordered.records[start..end];
            let mut possible = 0;
            for place in 0..step.len() {
                let bound = self.bound(start + place, dataset_size);
                while possible < step.len() && (epoch.records[start + possible] as usize) < bound {
                    possible += 1;
                }
                // Places before `possible` hold the possible records; those already used come first.
                if possible > place {
                    step.swap(place, place + below(possible - place));
                }
            }
            start = end;
        }
        ordered
    }
}

/// Half of a buffer's size, rounded up.
pub fn half(size: usize) -> usize {
    size - size / 2
}

/// The logarithms ln 0 (never used), ln 1, ..., ln `most`.
pub fn logarithms(most: usize) -> Vec<f64> {
    (0..=most).map(|count| log(count as f64)).collect()
}
