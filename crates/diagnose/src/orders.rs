//! The orders of records in epochs that use each record once. Missing and repeated records are removed.

use crate::copies::mixed;
use crate::incidence::epochs_a_part;
use crate::logged_epochs::{LoggedEpoch, LoggedEpochs};
use libm::{lgamma, log};
use misdeal_results::{Defect, DefectName};
use rayon::prelude::*;
use std::collections::HashSet;

/// The largest share of repeated entries in a log that still counts as using each record once.
///
/// Schemes that draw every batch anew repeat at least a quarter.
const MOST_REPEATED: f64 = 0.05;

/// The order of the records in every epoch.
#[derive(Debug, Clone)]
pub struct Orders {
    /// Number of records that are counted.
    ///
    /// If a whole batch of records or more is never used, those records are left out and the others renumbered. Else it is all
    /// records in the file.
    pub dataset_size: usize,
    /// Number of all records in the file.
    pub file_size: usize,
    /// Upper bound on the number of records in the file.
    pub largest_size: usize,
    /// Number of records that some epoch uses.
    pub dealt: usize,
    /// The epochs, each record at most once.
    pub epochs: Vec<LoggedEpoch>,
    /// Number of repeated entries that were removed, in all epochs.
    pub repeated: usize,
    /// How often an epoch uses its most frequent record.
    pub most_uses: usize,
    /// Whether there are at least two epochs and all have the same steps in the same order.
    pub reused: bool,
    /// Why step sizes differ, apart from the last steps; `None` if they are equal.
    pub uneven: Option<String>,
    /// Whether the order within a step is informative.
    pub ordered: bool,
    /// The size of the largest step.
    pub batch_size: usize,
}

impl Orders {
    /// Returns the orders of a log and their defects; `None` if the log does not use each record once.
    pub fn of(logged: &LoggedEpochs) -> (Option<Self>, Vec<Defect>) {
        let n = logged.dataset_size;
        let stripped: Vec<(LoggedEpoch, Repeats)> = logged
            .epochs
            .par_chunks(epochs_a_part(logged.epochs.len(), n))
            .flat_map_iter(|epochs| {
                let mut uses = vec![0; n];
                epochs.iter().map(move |epoch| without_repeats(epoch, &mut uses))
            })
            .collect();
        let entries: usize = logged.epochs.iter().map(|epoch| epoch.records.len()).sum();
        let repeated: usize = stripped.iter().map(|(_, repeats)| repeats.entries).sum();
        let most_uses = stripped.iter().map(|(_, repeats)| repeats.most_uses).max().unwrap_or(1);
        let replayed: usize = stripped.iter().map(|(_, repeats)| repeats.replayed).sum();
        if (repeated - replayed) as f64 > MOST_REPEATED * entries as f64 || 2 * repeated > entries {
            return (None, Vec::new());
        }
        let mut defects = Vec::new();
        repeats_as_defects(&stripped, &mut defects);
        let mut orders = Orders {
            dataset_size: n,
            file_size: n,
            largest_size: logged.largest_size.once_an_epoch,
            dealt: n,
            reused: logged.epochs.len() > 1 && logged.epochs.windows(2).all(|pair| pair[0] == pair[1]),
            uneven: uneven(logged),
            epochs: stripped.into_iter().map(|(epoch, _)| epoch).collect(),
            repeated,
            most_uses,
            ordered: logged.steps_are_ordered,
            batch_size: logged.batch_size,
        };
        orders.set_missing_aside(&mut defects);
        (Some(orders), defects)
    }

    /// The epochs that give new information: only the first if all are the same.
    pub fn distinct_epochs(&self) -> &[LoggedEpoch] {
        if self.reused { &self.epochs[..1] } else { &self.epochs }
    }

    /// The size of the smallest sliding buffer that could give these orders.
    ///
    /// It is the largest distance by which a record comes before its place in the file, plus one.
    pub fn reach(&self) -> usize {
        let ahead = |epoch: &LoggedEpoch| {
            let places = epoch.records.iter().enumerate();
            places.map(|(place, &record)| (record as usize + 1).saturating_sub(place)).max().unwrap_or(1)
        };
        self.distinct_epochs().par_iter().map(ahead).max().unwrap_or(1)
    }

    /// Logarithm of the number of ways to choose the used records, if the others were removed.
    ///
    /// The set of used records was read from the log. An explanation that relies on it must pay for this choice.
    pub fn log_ways_to_choose(&self) -> f64 {
        let [n, k] = [self.file_size, self.dataset_size].map(|size| size as f64);
        lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0)
    }

    /// Logarithm of an upper bound on the probability that a fresh epoch repeats the one before.
    pub fn log_chance_of_repeating(&self, by_batches: bool) -> f64 {
        let epoch = &self.epochs[0];
        if by_batches {
            return -lgamma(epoch.ends.len() as f64 + 1.0);
        }
        let inner: f64 = epoch.steps().map(|step| lgamma(step.len() as f64 + 1.0)).sum();
        let orders = lgamma(epoch.records.len() as f64 + 1.0);
        if self.ordered { -orders } else { inner - orders }
    }

    /// Number of records in the shortest epoch.
    pub fn shortest(&self) -> usize {
        self.epochs.iter().map(|epoch| epoch.records.len()).min().unwrap_or(0)
    }

    /// The smallest share of all batches that an epoch uses.
    pub fn least_share_of_batches(&self) -> f64 {
        let batches = |records: usize| records.div_ceil(self.batch_size.max(1));
        let dealt: Vec<usize> = self.distinct_epochs().iter().map(|epoch| epoch.ends.len()).collect();
        let all = largest_population(&dealt, batches(self.dealt), batches(self.largest_size));
        dealt.iter().map(|&dealt| dealt as f64 / all as f64).fold(1.0, f64::min)
    }

    /// Logarithm of the probability that a record is in all of `epochs` epochs of a full shuffle, if they are like the log's
    /// epochs.
    pub fn log_presence(&self, epochs: u64) -> f64 {
        let dealt: Vec<usize> = self.distinct_epochs().iter().map(|epoch| epoch.records.len()).collect();
        let population = largest_population(&dealt, self.dealt, self.largest_size) as f64;
        let share = |epoch: &LoggedEpoch| epoch.records.len() as f64 / population;
        if self.reused {
            return log(self.epochs.iter().map(share).fold(1.0, f64::min));
        }
        let sum: f64 = self.epochs.iter().map(|epoch| log(share(epoch))).sum();
        sum / self.epochs.len() as f64 * epochs as f64
    }

    /// Removes records that no epoch has. Reports them, and records that only some epochs have, as defects.
    fn set_missing_aside(&mut self, defects: &mut Vec<Defect>) {
        let n = self.dataset_size;
        let mut seen = vec![false; n];
        for epoch in &self.epochs {
            epoch.records.iter().for_each(|&record| seen[record as usize] = true);
        }
        let never = seen.iter().filter(|&&seen| !seen).count();
        self.dealt = n - never;
        let fewest = self.epochs.iter().map(|epoch| epoch.records.len()).min().unwrap_or(0);
        let dropped = n - never - fewest;
        if never > 0 {
            let first = seen.iter().position(|&seen| !seen).unwrap_or(0);
            let message = format!(
                "{never} of {n} records are in no batch of the log, the first of them record {first}: they are not trained on, \
                 or the log ends too early."
            );
            defects.push(Defect { defect: DefectName::RecordsNeverDealt, records: never as u64, message });
        }
        if dropped > 0 {
            let message = format!(
                "{dropped} records that other epochs have are missing from an epoch, fewer than a batch if the last one is dropped \
                 (drop_last): which ones depends on the order."
            );
            defects.push(Defect { defect: DefectName::RecordsDropped, records: dropped as u64, message });
        }
        if never >= self.batch_size {
            let mut next = 0;
            let renumbered: Vec<u32> = seen
                .iter()
                .map(|&seen| {
                    next += u32::from(seen);
                    next.wrapping_sub(1)
                })
                .collect();
            for epoch in &mut self.epochs {
                epoch.records.iter_mut().for_each(|record| *record = renumbered[*record as usize]);
            }
            self.dataset_size = n - never;
        }
    }
}

/// The largest population, up to `most`, from which the epochs can have been drawn.
///
/// Epoch i uses `dealt[i]` elements in uniform order; all epochs together use `seen` of them. If an element is in no epoch
/// although chance would have included it, it was never in the population.
///
/// Each of N elements is left out of all epochs with probability `Π (1 - dealt[i] / N)`. These events are negatively associated.
/// By Bernstein's inequality, their number exceeds its mean `u` by `L / 3 + sqrt(L^2 / 9 + 2 L u)` with probability at most
/// `e^-L`, here 1e-6. An N is too large if this bound is below the number of elements that the log leaves out.
fn largest_population(dealt: &[usize], seen: usize, most: usize) -> usize {
    let unlikely = -log(1e-6);
    let is_possible = |size: usize| {
        let left_out: f64 = dealt.iter().map(|&dealt| 1.0 - dealt as f64 / size as f64).product();
        let mean = size as f64 * left_out;
        let deviation = unlikely / 3.0 + libm::sqrt(unlikely * unlikely / 9.0 + 2.0 * unlikely * mean);
        size.saturating_sub(seen) as f64 <= mean + deviation
    };
    if is_possible(most) {
        return most;
    }
    let (mut possible, mut too_many) = (seen, most);
    while too_many - possible > 1 {
        let middle = possible.midpoint(too_many);
        if is_possible(middle) { possible = middle } else { too_many = middle }
    }
    possible
}

/// The records that an epoch uses more than once.
#[derive(Debug, Clone, Default)]
struct Repeats {
    entries: usize,
    /// How often the epoch uses its most frequent record.
    most_uses: usize,
    /// Entries of whole batches that the epoch had before, as after a resume from an earlier step.
    replayed: usize,
    /// Whether the repeats are the epoch's first records, repeated at its end. Distributed samplers pad in this way.
    is_padding: bool,
}

/// Removes repeats from an epoch. `uses` holds 0 for every record, before and after the call.
fn without_repeats(epoch: &LoggedEpoch, uses: &mut [u32]) -> (LoggedEpoch, Repeats) {
    let mut kept = LoggedEpoch {
        records: Vec::with_capacity(epoch.records.len()),
        ends: Vec::with_capacity(epoch.ends.len()),
    };
    let mut repeated = Vec::new();
    let mut replayed = 0;
    let mut digests = HashSet::new();
    for step in epoch.steps() {
        // Only a batch that was there before, record for record, can be a replay.
        let is_copy = !digests
            .insert(step.iter().fold(0, |digest: u64, &record| digest.rotate_left(7) ^ mixed(record)));
        if is_copy && step.len() > 1 && step.iter().all(|&record| uses[record as usize] > 0) {
            for &record in step {
                uses[record as usize] += 1;
            }
            repeated.extend_from_slice(step);
            replayed += step.len();
            continue;
        }
        for &record in step {
            let dealt = &mut uses[record as usize];
            *dealt += 1;
            if *dealt > 1 {
                repeated.push(record);
            } else {
                kept.records.push(record);
            }
        }
        kept.ends.push(kept.records.len());
    }
    let is_padding =
        !repeated.is_empty() && epoch.records.ends_with(&repeated) && epoch.records.starts_with(&repeated);
    let mut most_uses = 0;
    for &record in &epoch.records {
        most_uses = most_uses.max(std::mem::take(&mut uses[record as usize]));
    }
    let most_uses = most_uses as usize;
    (kept, Repeats { entries: repeated.len(), most_uses, replayed, is_padding })
}

fn repeats_as_defects(stripped: &[(LoggedEpoch, Repeats)], defects: &mut Vec<Defect>) {
    let most = stripped.iter().map(|(_, repeats)| repeats.entries).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    let touched = stripped.iter().filter(|(_, repeats)| repeats.entries > 0);
    let records = most as u64;
    if touched.clone().all(|(_, repeats)| repeats.is_padding) {
        let message = format!(
            "The first {most} records of an epoch are dealt again at its end, to fill up the ranks: they are used twice an epoch, \
             which no accountant counts."
        );
        defects.push(Defect { defect: DefectName::PaddedWithDuplicates, records, message });
    } else if stripped.iter().all(|(_, repeats)| repeats.entries == repeats.replayed) {
        let message = format!(
            "Up to {most} entries of an epoch repeat whole batches of it, in {} of {} epochs, as after a resume from an earlier step: these \
             records are used more often than an accountant counts.",
            touched.count(),
            stripped.len()
        );
        defects.push(Defect { defect: DefectName::RecordsDuplicated, records, message });
    } else {
        let message = format!(
            "Up to {most} records of an epoch are dealt more than once in it, in {} of {} epochs: they are used more often than an \
             accountant counts.",
            touched.count(),
            stripped.len()
        );
        defects.push(Defect { defect: DefectName::RecordsDuplicated, records, message });
    }
}

/// Why step sizes differ, apart from the last step of each worker; `None` if they are equal.
pub fn uneven(logged: &LoggedEpochs) -> Option<String> {
    for (epoch, number) in logged.epochs.iter().zip(&logged.numbers) {
        let whole = epoch.ends.len().saturating_sub(logged.workers);
        if let Some((step, records)) =
            epoch.steps().take(whole).enumerate().find(|(_, step)| step.len() != logged.batch_size)
        {
            return Some(format!(
                "step {step} of epoch {number} has {} records and others have {}, but fixed sizes are all equal up to the last",
                records.len(),
                logged.batch_size
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::largest_population;

    #[test]
    fn who_was_never_in_the_game_is_told_from_who_was_left_out() {
        // One epoch gives no information. Three epochs with the same half give it; three epochs with random halves use seven
        // eighths together.
        assert_eq!(largest_population(&[1_000], 1_000, 20_000), 20_000);
        let same_half = largest_population(&[1_000; 3], 1_000, 2_000);
        assert!((1_000..1_020).contains(&same_half), "{same_half}");
        assert_eq!(largest_population(&[1_000; 3], 1_750, 2_000), 2_000);
        // Three epochs of a subset of twenty thousand records; each leaves out one short batch.
        let subset = largest_population(&[9_950; 3], 10_000, 20_000);
        assert!((10_000..10_020).contains(&subset), "{subset}");
    }
}
