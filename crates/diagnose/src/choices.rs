//! Schemes that deal each record once, as a sequence of uniform choices.
//!
//! Shuffles, blocks and sliding buffers differ only in which records may be dealt at position j: those below some bound that have
//! not been dealt yet, all with the same probability. So with c_j of them at position j an order has the probability
//! product of 1 / c_j if it is possible at all, and the ranks of the chosen among the possible are independent and uniform.
//!
//! A buffer's size is where the log first becomes possible. The probability that a full shuffle gives an order which
//! a smaller buffer could have made is the ratio of the two likelihoods, exactly.

use crate::logged_epochs::LoggedEpoch;
use libm::{lgamma, log};
use misdeal_core::{Setting, Stream, World};
use misdeal_schemes::BatchRng;
use rand::Rng;

/// Which records may be dealt at a position: all below the bound that are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choices {
    /// All records.
    All,
    /// Those of the position's block of so many records.
    Block(usize),
    /// Those that a sliding buffer of so many records has read.
    Sliding(usize),
    /// Those in a sliding buffer of so many records, which is refilled when half of them, rounded up, have left: what newer versions of
    /// Hugging Face's `datasets` do.
    RefilledByHalves(usize),
}

impl Choices {
    /// All records below this may have been dealt by position `place`, or are dealt there.
    pub fn bound(self, place: usize, dataset_size: usize) -> usize {
        match self {
            Self::All => dataset_size,
            Self::Block(size) => ((place / size + 1) * size).min(dataset_size),
            Self::Sliding(size) => (place + size).min(dataset_size),
            Self::RefilledByHalves(size) => (place / half(size) * half(size) + size).min(dataset_size),
        }
    }

    /// ln of the probability of a possible order of the first `dealt` of `dataset_size` records: minus the sum of ln c_j.
    pub fn log_probability(self, dealt: usize, dataset_size: usize) -> f64 {
        let log_factorial = |count: usize| lgamma(count as f64 + 1.0);
        // Of `records` in random order the first `dealt`.
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

    /// Whether no record is dealt at a position where it may not be.
    pub fn allows(self, epoch: &LoggedEpoch, dataset_size: usize) -> bool {
        let mut places = epoch.records.iter().enumerate();
        places.all(|(place, &record)| (record as usize) < self.bound(place, dataset_size))
    }

    /// ln of the number of orders within steps that are possible; `None` if there is none. Steps are sorted.
    ///
    /// While a step is dealt the possible records only become more, so that the number is a product over positions, whichever is
    /// chosen.
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

    /// An epoch of sorted steps with one of the possible orders within them, all equally likely; a function of `epoch_index`. Steps
    /// without one stay as they are.
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
                // Places up to `possible` hold the records that may be dealt, those already dealt first.
                if possible > place {
                    step.swap(place, place + below(possible - place));
                }
            }
            start = end;
        }
        ordered
    }
}

/// Half of a buffer, rounded up.
pub fn half(size: usize) -> usize {
    size - size / 2
}

/// ln 0 (never used), ln 1, ... up to ln `most`.
pub fn logarithms(most: usize) -> Vec<f64> {
    (0..=most).map(|count| log(count as f64)).collect()
}
