//! Which records are in which steps; their order does not matter.

use crate::logged_epochs::{LoggedEpoch, LoggedEpochs};
use rayon::prelude::*;

/// Sums over all steps of a log, with their expected values if steps hold random records.
#[derive(Debug, Clone, Default)]
pub struct Incidence {
    /// Number of records in the file.
    pub dataset_size: f64,
    /// The size of every step.
    pub sizes: Vec<f64>,
    /// Number of steps in each epoch.
    pub steps: Vec<usize>,
    /// How often each record appears in the log.
    pub counts: Vec<u32>,
    /// A record that appears twice in one step, if there is one.
    pub twice_in_a_step: Option<u32>,
    /// Sum of record times step, where both are measured from their means.
    pub trend: Expected,
    /// Number of records that appear again in the next step.
    pub overlap: Expected,
    /// Number of pairs of neighbours in the file that share a step.
    pub neighbours: Expected,
    /// Number of records at the same step in the next epoch, for epochs that use each record once.
    pub kept: Expected,
}

/// A sum with its mean and variance.
#[derive(Debug, Clone, Copy, Default)]
pub struct Expected {
    pub value: f64,
    pub mean: f64,
    pub variance: f64,
}

impl Expected {
    fn add(&mut self, value: f64, mean: f64, variance: f64) {
        self.value += value;
        self.mean += mean;
        self.variance += variance;
    }
}

impl Incidence {
    pub fn of(logged: &LoggedEpochs) -> Self {
        let n = logged.dataset_size;
        let mut all = Incidence { dataset_size: n as f64, counts: vec![0; n], ..Incidence::default() };
        // Arrays of the data set's length are allocated once per part, not once per epoch, because a log may have many short
        // epochs.
        let parts = logged.epochs.par_chunks(epochs_a_part(logged.epochs.len(), n)).map(|epochs| {
            let mut last_step = vec![u32::MAX; n + 1];
            let mut counts = vec![0; n];
            let of_epoch = |epoch: &LoggedEpoch| {
                let mut part = Incidence { dataset_size: n as f64, ..Incidence::default() };
                part.insert(epoch, &mut last_step, &mut counts);
                part
            };
            (epochs.iter().map(of_epoch).collect::<Vec<_>>(), counts)
        });
        for (epochs, counts) in parts.collect::<Vec<_>>() {
            for part in epochs {
                all.merge(part);
            }
            all.counts.iter_mut().zip(&counts).for_each(|(count, more)| *count += more);
        }
        let pairs: Vec<&[LoggedEpoch]> = logged.epochs.windows(2).collect();
        let kept = pairs.par_chunks(epochs_a_part(pairs.len(), n)).map(|pairs| {
            let mut step_of = vec![u32::MAX; n];
            pairs.iter().map(|pair| kept(&pair[0], &pair[1], &mut step_of)).collect::<Vec<_>>()
        });
        for (value, steps) in kept.collect::<Vec<_>>().into_iter().flatten() {
            let share = 1.0 / steps.max(1) as f64;
            all.kept.add(value, n as f64 * share, n as f64 * share * (1.0 - share));
        }
        all
    }

    /// Adds an epoch. `last_step` holds `u32::MAX` for every record, before and after the call.
    fn insert(&mut self, epoch: &LoggedEpoch, last_step: &mut [u32], counts: &mut [u32]) {
        let n = self.dataset_size;
        let entries = epoch.records.len() as f64;
        let by_step = || epoch.steps().enumerate().map(|(step, records)| (step as f64, records.len() as f64));
        let mean_step = by_step().map(|(step, size)| step * size).sum::<f64>() / entries.max(1.0);
        let mut size_before = 0.0;
        for (step, records) in epoch.steps().enumerate() {
            let size = records.len() as f64;
            let (mut overlap, mut neighbours, mut trend) = (0.0, 0.0, 0.0);
            for &record in records {
                let last = &mut last_step[record as usize];
                if *last == step as u32 {
                    self.twice_in_a_step = Some(record);
                } else if step > 0 && *last == step as u32 - 1 {
                    overlap += 1.0;
                }
                *last = step as u32;
                counts[record as usize] += 1;
                trend += f64::from(record) - 0.5 * (n - 1.0);
            }
            for &record in records {
                neighbours += f64::from(u8::from(last_step[record as usize + 1] == step as u32));
            }
            let distance = step as f64 - mean_step;
            self.trend.add(trend * distance, 0.0, size * (n * n - 1.0) / 12.0 * distance * distance);
            let others = n - size;
            if step > 0 && n > 1.0 {
                let mean = size * size_before / n;
                self.overlap.add(
                    overlap,
                    mean,
                    mean * (1.0 - size / n) * (1.0 - size_before / n) * n / (n - 1.0),
                );
            }
            if n > 1.0 {
                // Variance of the number of runs in a random subset (Wald and Wolfowitz).
                let variance = size * (size - 1.0) * (others + 1.0) * others / (n * n * (n - 1.0));
                self.neighbours.add(neighbours, size * (size - 1.0) / n, variance);
            }
            self.sizes.push(size);
            size_before = size;
        }
        self.steps.push(epoch.ends.len());
        epoch.records.iter().for_each(|&record| last_step[record as usize] = u32::MAX);
    }

    fn merge(&mut self, other: Incidence) {
        self.sizes.extend(other.sizes);
        self.steps.extend(other.steps);
        self.twice_in_a_step = self.twice_in_a_step.or(other.twice_in_a_step);
        for (ours, theirs) in [
            (&mut self.trend, other.trend),
            (&mut self.overlap, other.overlap),
            (&mut self.neighbours, other.neighbours),
        ] {
            ours.add(theirs.value, theirs.mean, theirs.variance);
        }
    }

    /// Number of entries in all steps together.
    pub fn entries(&self) -> f64 {
        self.sizes.iter().sum()
    }
}

/// Limit for the arrays of all parts together, in numbers of four bytes.
const MOST_NUMBERS: usize = 80_000_000;

/// Number of epochs that one core processes with one set of arrays of the data set's length.
pub fn epochs_a_part(epochs: usize, dataset_size: usize) -> usize {
    let most_parts = (MOST_NUMBERS / (2 * dataset_size.max(1))).max(1);
    epochs.div_ceil(rayon::current_num_threads().min(most_parts)).max(1)
}

/// Counts the records at the same step in both epochs, and the steps of an epoch.
///
/// `step_of` holds `u32::MAX` for every record, before and after the call.
fn kept(one: &LoggedEpoch, other: &LoggedEpoch, step_of: &mut [u32]) -> (f64, usize) {
    for (step, records) in one.steps().enumerate() {
        for &record in records {
            step_of[record as usize] = step as u32;
        }
    }
    let mut same = 0.0;
    for (step, records) in other.steps().enumerate() {
        let matching = records.iter().filter(|&&record| step_of[record as usize] == step as u32);
        same += matching.count() as f64;
    }
    one.records.iter().for_each(|&record| step_of[record as usize] = u32::MAX);
    (same, one.ends.len().max(other.ends.len()))
}
