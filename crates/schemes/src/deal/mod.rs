//! Batches that keep the promise: Poisson and balls-in-bins, at any size, from a secret seed.
//!
//! A [`Plan`] has no state. Each batch is a function of (seed, step), so a run resumes at any step. A batch takes time and memory in
//! proportion to its own length, whatever the number of records.
//!
//! ```
//! use misdeal_core::BatchScheme;
//! use misdeal_schemes::deal::{Plan, Seed};
//! let plan = Plan::new(BatchScheme::BallsInBins, 1_000_000_000_000, 1024, 2, &Seed::from_number(7))?;
//! let batch = plan.batch(plan.steps() - 1);
//! assert!(batch.iter().all(|&record| record < 1_000_000_000_000));
//! assert_eq!(plan.epoch(1).step_of(batch[0]), plan.steps_per_epoch() - 1);
//! # Ok::<(), misdeal_core::Error>(())
//! ```
//!
//! # What is assumed?
//! AES-256 with a secret key is a pseudorandom function: nobody without the key tells its outputs from random words. All randomness comes from
//! it. Given random words, the laws are exact except for three stated errors.
//! - Each gap of Poisson sampling and each number of records of a bin has its probability with a relative error below 1e-11 ([`binomial`]).
//! - Data sets above 2^16 records are permuted by a Feistel network of 12 rounds ([`permutation`]). It is assumed to be indistinguishable
//!   from a random permutation. Smaller data sets are permuted exactly.
//! - Random functions instead of the random permutations that AES gives: below 2^-47 for 2^40 blocks of words.
//!
//! # Why must the seed be secret?
//! The accountants average over the batches that the adversary does not see. Whoever knows the seed knows the batches, and then only the
//! bound of a fixed order holds. The same is true of a plan that was written to a file.

mod balls_in_bins;
pub mod binomial;
mod generator;
pub mod permutation;
mod poisson;
mod seed;
mod sizes;

pub use balls_in_bins::Epoch;
pub use poisson::Pass;
pub use seed::Seed;

use generator::Generator;
use misdeal_core::{BatchScheme, Error, MOST_STEPS, Result};
use std::ops::Range;

/// The largest data set: 2^50 records, beyond which counts as floats are no longer exact.
pub const MOST_RECORDS: u64 = 1 << 50;

/// All batches of a run, as a function of a secret seed.
///
/// # Formal guarantees
/// - The batch of a step depends on the seed, the scheme, `dataset_size`, `steps_per_epoch` and `batch_size`, and on nothing else. A plan with more
///   epochs begins with the same batches.
/// - Batches of different steps (Poisson) or epochs (balls-in-bins) are independent.
#[derive(Debug)]
pub struct Plan {
    scheme: BatchScheme,
    dataset_size: u64,
    batch_size: u64,
    steps_per_epoch: u64,
    epochs: u64,
    generator: Generator,
    orders: permutation::Kept,
}

impl Plan {
    /// Checks the sizes and prepares the generator.
    ///
    /// # Errors
    /// The scheme is neither `Poisson` nor `BallsInBins`. There are no records, more than [`MOST_RECORDS`], or fewer than a batch needs; or a run has no steps or too many.
    pub fn new(
        scheme: BatchScheme,
        dataset_size: u64,
        batch_size: u64,
        epochs: u64,
        seed: &Seed,
    ) -> Result<Self> {
        if !matches!(scheme, BatchScheme::Poisson | BatchScheme::BallsInBins) {
            let hint = "these have certified accountants and keep the promise of Poisson sampling, or nearly";
            return Err(Error::bad_value("scheme", scheme.name(), "poisson or balls-in-bins", hint));
        }
        if !(1..=MOST_RECORDS).contains(&dataset_size) {
            let allowed = format!("a whole number from 1 to {MOST_RECORDS}");
            return Err(Error::bad_value(
                "dataset_size",
                dataset_size,
                allowed,
                "count the records of the training data",
            ));
        }
        if !(1..=dataset_size).contains(&batch_size) {
            let allowed = format!("a whole number from 1 to {dataset_size}, the `dataset_size`");
            return Err(Error::bad_value(
                "batch_size",
                batch_size,
                allowed,
                "a batch cannot hold more records than there are",
            ));
        }
        let steps_per_epoch = dataset_size / batch_size;
        let most = MOST_STEPS / steps_per_epoch;
        if most == 0 {
            let allowed = format!("at least {}", dataset_size.div_ceil(MOST_STEPS));
            return Err(Error::bad_value(
                "batch_size",
                batch_size,
                allowed,
                format!("a run has at most {MOST_STEPS} steps"),
            ));
        }
        if !(1..=most).contains(&epochs) {
            let hint = format!("an epoch has {steps_per_epoch} steps, and a run at most {MOST_STEPS}");
            return Err(Error::bad_value("epochs", epochs, format!("a whole number from 1 to {most}"), hint));
        }
        let words = format!("{} {dataset_size} {batch_size}", scheme.name());
        let generator = Generator::new(seed, &words);
        Ok(Plan {
            scheme,
            dataset_size,
            batch_size,
            steps_per_epoch,
            epochs,
            generator,
            orders: permutation::Kept::default(),
        })
    }

    /// The scheme.
    pub fn scheme(&self) -> BatchScheme {
        self.scheme
    }

    /// The number of records.
    pub fn dataset_size(&self) -> u64 {
        self.dataset_size
    }

    /// The number of records in a batch, on average.
    pub fn batch_size(&self) -> u64 {
        self.batch_size
    }

    /// The number of full batches in an epoch, floor(`dataset_size` / `batch_size`).
    pub fn steps_per_epoch(&self) -> u64 {
        self.steps_per_epoch
    }

    /// The number of steps of all epochs together.
    pub fn steps(&self) -> u64 {
        self.steps_per_epoch * self.epochs
    }

    /// The probability that a record is in a given batch, under Poisson sampling.
    pub fn sampling_probability(&self) -> f64 {
        self.batch_size as f64 / self.dataset_size as f64
    }

    /// The records of one step, counted from 0 over all epochs. The batch may be empty.
    ///
    /// Poisson batches are in file order. Balls-in-bins batches are in random order.
    ///
    /// # Panics
    /// If `step` is not below [`steps`](Plan::steps).
    pub fn batch(&self, step: u64) -> Vec<u64> {
        let mut records = Vec::new();
        self.visit(step..step + 1, |_, batch| records.extend_from_slice(batch));
        records
    }

    /// Calls `visit` with each step of a range and its batch, in order. It is faster than one batch at a time.
    ///
    /// # Panics
    /// If the range goes beyond [`steps`](Plan::steps).
    pub fn visit(&self, steps: Range<u64>, mut visit: impl FnMut(u64, &[u64])) {
        assert!(steps.end <= self.steps(), "step {} of {}", steps.end, self.steps());
        if self.scheme == BatchScheme::Poisson {
            let mut records = Vec::new();
            for step in steps {
                let q = self.sampling_probability();
                poisson::batch(&self.generator, q, self.dataset_size, step, &mut records);
                visit(step, &records);
            }
            return;
        }
        let mut first = steps.start;
        while first < steps.end {
            let epoch = first / self.steps_per_epoch;
            let start = epoch * self.steps_per_epoch;
            let end = steps.end.min(start + self.steps_per_epoch);
            self.epoch(epoch).visit(first - start..end - start, |step, batch| visit(start + step, batch));
            first = end;
        }
    }

    /// One epoch of balls-in-bins, where the step of each record is known too.
    ///
    /// # Panics
    /// If the scheme is Poisson sampling, whose records have no single step, or if there is no such epoch.
    pub fn epoch(&self, epoch: u64) -> Epoch<'_> {
        assert!(self.scheme == BatchScheme::BallsInBins, "an epoch of {}", self.scheme.name());
        assert!(epoch < self.epochs, "epoch {epoch} of {}", self.epochs);
        Epoch::new(&self.generator, epoch, self.dataset_size, self.steps_per_epoch, &self.orders)
    }

    /// One pass over the records of an epoch in file order, which tells the steps of each record.
    ///
    /// # Panics
    /// If there is no such epoch.
    pub fn pass(&self, epoch: u64) -> Pass<'_> {
        assert!(epoch < self.epochs, "epoch {epoch} of {}", self.epochs);
        let first = epoch * self.steps_per_epoch;
        if self.scheme == BatchScheme::Poisson {
            let steps = first..first + self.steps_per_epoch;
            return Pass::of_gaps(&self.generator, self.sampling_probability(), self.dataset_size, steps);
        }
        Pass::of_bins(self.epoch(epoch), self.dataset_size, first)
    }
}

/// The part of a batch that one of several processes trains on: every `world_size`-th record, from record `rank` on.
///
/// The parts of all ranks make up the batch. Their sizes differ by at most one, so a part may be empty.
pub fn of_rank(batch: &[u64], rank: u64, world_size: u64) -> impl Iterator<Item = u64> {
    batch.iter().copied().skip(rank as usize).step_by(world_size as usize)
}
