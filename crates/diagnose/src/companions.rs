//! Whether records that share a batch meet again: the pairs of records that share two batches.
//!
//! Let h be the number of records that two steps have in common. The statistic is the sum of h (h - 1) / 2 over pairs of steps. It is
//! large where batches, stages or shards stay together, where records of one length share batches, and where an order comes back.
//!
//! # Its law
//! Under schemes that treat all records alike, a step of another epoch is a uniform subset of the records, given its size. Then h is
//! hypergeometric. The sums for different pairs of epochs are uncorrelated, and so are those for pairs of steps that are drawn anew.
//! Mean and variance are exact. The tail is a gamma law with the skewness of Poisson counts.

use crate::logged_epochs::LoggedEpoch;
use crate::p_values::skewed;

/// Largest number of visits to entries. Longer logs are sampled: some steps are compared with all later ones.
const MOST_VISITS: f64 = 4e7;

/// Which pairs of steps are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairs {
    /// Steps of different epochs, for schemes that use each record once an epoch.
    OfEpochs,
    /// All steps, for schemes that draw every step anew.
    OfSteps,
}

/// The pairs of records that meet twice, and what a law without memory gives.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Companions {
    value: f64,
    mean: f64,
    variance: f64,
    skewness: f64,
    /// The largest possible value: every pair that shares a step shares the later ones, too.
    most: f64,
    /// The two epochs whose pairs exceed their mean most, by place in the log; `None` if they were not compared.
    pub worst: Option<[usize; 2]>,
}

impl Companions {
    /// Counts the pairs in a log with `population` records.
    pub fn of(epochs: &[LoggedEpoch], population: usize, pairs: Pairs) -> Self {
        let steps = Steps::of(epochs, population);
        let every = (steps.visits() / MOST_VISITS).ceil().max(1.0) as u64;
        let chosen: Vec<bool> = (0..steps.epoch_of.len() as u64).map(|step| is_chosen(step, every)).collect();
        let mut found = match pairs {
            Pairs::OfEpochs => steps.law_of_partitions(&chosen, population as f64),
            Pairs::OfSteps => steps.law_of_draws(&chosen, population as f64),
        };
        steps.count(&chosen, pairs, &mut found);
        found
    }

    /// Two-sided p-value; 1 if there is nothing to compare.
    pub fn p_value(&self) -> f64 {
        if self.variance <= 0.0 {
            return 1.0;
        }
        skewed((self.value - self.mean) / self.variance.sqrt(), self.skewness)
    }

    /// Whether more pairs meet again than by chance.
    pub fn is_excess(&self) -> bool {
        self.value > self.mean
    }

    /// The excess as a share of the largest possible excess: 1 if batches never mix.
    pub fn share(&self) -> f64 {
        if self.most > self.mean { (self.value - self.mean) / (self.most - self.mean) } else { 0.0 }
    }

    /// How many standard deviations a log would be off if a tenth of the pairs stayed together.
    pub fn power(&self) -> f64 {
        0.1 * (self.most - self.mean) / self.variance.max(1.0).sqrt()
    }
}

/// Whether a step is in a sample of about one in `every`.
fn is_chosen(step: u64, every: u64) -> bool {
    every == 1 || crate::copies::mixed(step as u32).is_multiple_of(every)
}

/// The steps of a log, and the steps of each record.
struct Steps<'a> {
    epochs: &'a [LoggedEpoch],
    /// The epoch of every step.
    epoch_of: Vec<u32>,
    sizes: Vec<f64>,
    /// Where each record's steps begin in `of_record`.
    starts: Vec<u32>,
    of_record: Vec<u32>,
}

impl<'a> Steps<'a> {
    fn of(epochs: &'a [LoggedEpoch], population: usize) -> Self {
        let (mut epoch_of, mut sizes) = (Vec::new(), Vec::new());
        let mut starts = vec![0_u32; population + 1];
        for (number, epoch) in epochs.iter().enumerate() {
            epoch.records.iter().for_each(|&record| starts[record as usize + 1] += 1);
            for step in epoch.steps() {
                epoch_of.push(number as u32);
                sizes.push(step.len() as f64);
            }
        }
        for record in 0..population {
            starts[record + 1] += starts[record];
        }
        let mut next = starts.clone();
        let mut of_record = vec![0; starts[population] as usize];
        for (step, records) in epochs.iter().flat_map(LoggedEpoch::steps).enumerate() {
            for &record in records {
                of_record[next[record as usize] as usize] = step as u32;
                next[record as usize] += 1;
            }
        }
        Steps { epochs, epoch_of, sizes, starts, of_record }
    }

    fn steps_of(&self, record: u32) -> &[u32] {
        &self.of_record[self.starts[record as usize] as usize..self.starts[record as usize + 1] as usize]
    }

    /// Number of entries that a comparison of all steps visits.
    fn visits(&self) -> f64 {
        self.starts.windows(2).map(|pair| f64::from(pair[1] - pair[0]).powi(2)).sum()
    }

    /// Counts pairs of records in each chosen step and all later steps.
    fn count(&self, chosen: &[bool], pairs: Pairs, found: &mut Companions) {
        let mut shared = vec![0_u32; self.sizes.len()];
        let mut touched = Vec::new();
        // What each epoch shares with the current one, if there are few epochs.
        let epochs = self.epochs.len();
        let keeps = pairs == Pairs::OfEpochs && (2..=MOST_COMPARED).contains(&epochs);
        let mut by_epochs = vec![0.0; if keeps { epochs * epochs } else { 0 }];
        let all_steps = self.epochs.iter().flat_map(LoggedEpoch::steps).enumerate();
        for (step, records) in all_steps.filter(|&(step, _)| chosen[step]) {
            let epoch = self.epoch_of[step];
            let is_later = |&&other: &&u32| match pairs {
                Pairs::OfEpochs => self.epoch_of[other as usize] > epoch,
                Pairs::OfSteps => other as usize > step,
            };
            for &record in records {
                for &other in self.steps_of(record).iter().filter(is_later) {
                    if shared[other as usize] == 0 {
                        touched.push(other);
                    }
                    shared[other as usize] += 1;
                }
            }
            for other in touched.drain(..) {
                let both = f64::from(std::mem::take(&mut shared[other as usize]));
                let meetings = 0.5 * both * (both - 1.0);
                found.value += meetings;
                if keeps {
                    by_epochs[epoch as usize * epochs + self.epoch_of[other as usize] as usize] += meetings;
                }
            }
        }
        let most = (0..by_epochs.len()).max_by(|&one, &other| by_epochs[one].total_cmp(&by_epochs[other]));
        found.worst =
            most.filter(|&place| by_epochs[place] > 0.0).map(|place| [place / epochs, place % epochs]);
    }

    /// The law of the count if each epoch is a uniform partition of the records into steps of these sizes.
    ///
    /// Two distinct pairs of records have one record in common, or none. Both must be within steps of the one epoch and of the other.
    fn law_of_partitions(&self, chosen: &[bool], n: f64) -> Companions {
        let mut found = Companions::default();
        let pairs = 0.5 * n * (n - 1.0);
        let triples = n * (n - 1.0) * (n - 2.0);
        let distinct = 0.25 * n * (n - 1.0) * (n - 2.0) * (n - 3.0);
        // Sums over later epochs, for all their steps: pairs, triples, pairs of disjoint pairs, squared pairs, size cubed and squared.
        let mut later = [0.0; 6];
        // A cell's third moment is (2 m + 1) times its variance, for a mean overlap of m.
        let (mut third, mut weights, mut end) = (0.0, 0.0, self.sizes.len());
        for epoch in (0..self.epochs.len()).rev() {
            let begin = end - self.epochs[epoch].ends.len();
            let sums = |chosen: &dyn Fn(usize) -> bool| {
                let mut sums = [0.0; 6];
                for step in (begin..end).filter(|&step| chosen(step)) {
                    let a = self.sizes[step];
                    sums[0] += 0.5 * a * (a - 1.0);
                    sums[1] += a * (a - 1.0) * (a - 2.0);
                    sums[4] += a * a * a;
                    sums[5] += a * a;
                }
                sums[2] = (sums[0] * sums[0] - sums[0] - sums[1]).max(0.0);
                sums[3] = sums[0] * sums[0];
                sums
            };
            let ours = sums(&|step| chosen[step]);
            if n >= 4.0 {
                found.mean += ours[0] * later[0] / pairs;
                found.variance +=
                    ours[0] * later[0] / pairs + ours[1] * later[1] / triples + ours[2] * later[2] / distinct
                        - ours[3] * later[3] / (pairs * pairs);
                third += 2.0 * ours[4] * later[4] / (n * n * n) + ours[5] * later[5] / (n * n);
                weights += ours[5] * later[5] / (n * n);
                found.most += ours[0] * f64::from((self.epochs.len() - 1 - epoch) as u32);
            }
            let all = sums(&|_| true);
            later.iter_mut().zip(all).for_each(|(later, all)| *later += all);
            end = begin;
        }
        if found.variance > 0.0 && weights > 0.0 {
            found.skewness = third / weights / found.variance.sqrt();
        }
        found
    }

    /// The law of the count if every step is a uniform subset of its size, drawn anew.
    fn law_of_draws(&self, chosen: &[bool], n: f64) -> Companions {
        let mut found = Companions::default();
        let falling = |a: f64, k: i32| (0..k).map(|i| (a - f64::from(i)).max(0.0)).product::<f64>();
        let all = [2, 3, 4].map(|k| falling(n, k).max(1.0));
        // Sums over later steps: falling powers 2, 3, 4, the square of power 2, and the powers 2, 3 and 4.
        let mut later = [0.0; 7];
        let mut third = 0.0;
        for step in (0..self.sizes.len()).rev() {
            let a = self.sizes[step];
            let [two, three, four] = [2, 3, 4].map(|k| falling(a, k));
            if chosen[step] {
                let [f2, f3, f4] =
                    [two * later[0] / all[0], three * later[1] / all[1], four * later[2] / all[2]];
                found.mean += 0.5 * f2;
                found.variance +=
                    0.25 * (f4 + 4.0 * f3 + 2.0 * f2) - 0.25 * two * two * later[3] / (all[0] * all[0]);
                let powers = [
                    a * a / (n * n) * later[4],
                    a.powi(3) / n.powi(3) * later[5],
                    a.powi(4) / n.powi(4) * later[6],
                ];
                third += 0.5 * powers[0] + 4.0 * powers[1] + 4.0 * powers[2];
                found.most += 0.5 * a * (a - 1.0);
            }
            for (sum, term) in
                later.iter_mut().zip([two, three, four, two * two, a * a, a.powi(3), a.powi(4)])
            {
                *sum += term;
            }
        }
        // Batches that stay together meet once for every further time that their records are used.
        let uses = self.of_record.len() as f64 / n;
        found.most *= 0.5 * uses;
        if found.variance > 0.0 {
            found.skewness = third / found.variance.powf(1.5);
        }
        found
    }
}

/// The worst pair of epochs is looked for in logs with at most so many epochs.
const MOST_COMPARED: usize = 1000;
