//! Converts a log to epochs of steps, which is how schemes are described. Ranks are merged and copies are removed.

use crate::copies::{Batches, are_copies, are_the_same, each_record_repeats, split_batches};
use crate::population::LargestSize;
use crate::{ranks_together, restarts};
use misdeal_core::{Error, Result};
use misdeal_files::batch_log::BatchLog;
use misdeal_results::{Defect, DefectName};
use std::collections::BTreeMap;

/// Data sets up to this size are accepted for logs of any length; arrays with entries per record then stay below a gigabyte.
const LARGEST_SPARSE: u64 = 1 << 25;

/// One pass over the data: the records of all steps, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoggedEpoch {
    /// The records.
    pub records: Vec<u32>,
    /// Where each step ends in `records`.
    pub ends: Vec<usize>,
}

impl LoggedEpoch {
    /// The records of each step.
    pub fn steps(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let step = &self.records[start..end];
            start = end;
            step
        })
    }

    /// Makes an epoch with one step for each batch.
    pub fn of_batches<'a>(batches: impl IntoIterator<Item = &'a [u32]>) -> Self {
        let mut epoch = LoggedEpoch::default();
        for batch in batches {
            epoch.records.extend_from_slice(batch);
            epoch.ends.push(epoch.records.len());
        }
        epoch
    }
}

/// All epochs of a log.
#[derive(Debug, Clone)]
pub struct LoggedEpochs {
    /// Number of records in the file: as stated, or the largest index plus one.
    pub dataset_size: usize,
    /// Upper bounds on the number of records in the file.
    pub largest_size: LargestSize,
    /// The epochs of the log.
    pub epochs: Vec<LoggedEpoch>,
    /// The epochs' numbers in the log.
    pub numbers: Vec<u64>,
    /// The size of the largest step.
    pub batch_size: usize,
    /// Number of processes of a distributed run.
    pub ranks: usize,
    /// Number of workers. The last batch of each worker may be shorter.
    pub workers: usize,
    /// How many copies of the epochs were removed.
    pub uses: Uses,
    /// Whether the order within a step is informative. It is not if the loader sorts its batches.
    pub steps_are_ordered: bool,
}

impl LoggedEpochs {
    /// Whether every epoch uses all records, except those that do not fill a batch.
    pub fn is_complete(&self) -> bool {
        let unfilled = self.batch_size * self.workers.max(1);
        self.epochs.iter().all(|epoch| epoch.records.len() + unfilled > self.dataset_size)
    }
}

/// How often each record is really used for every time that it appears in the epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uses {
    /// Number of ranks that use the same records; 1 if the ranks split the records.
    pub by_ranks: u64,
    /// Number of workers that use the same records; 1 if the workers split the records.
    pub by_workers: u64,
}

/// Batches as logged, with their workers.
type WorkersBatches<'a> = Vec<(Option<u32>, &'a [u32])>;

impl LoggedEpochs {
    /// Merges a log's ranks step by step, and removes epochs or streams that are copies.
    ///
    /// Position j of rank r of R becomes position jR + r, because distributed samplers distribute a permutation in this way.
    ///
    /// # Errors
    /// `dataset_size` is not above the largest record, or the data set is far larger than the log.
    pub fn new(log: &BatchLog, dataset_size: Option<u64>) -> Result<(Self, Vec<Defect>)> {
        let largest = u64::from(log.largest_record().unwrap_or(0));
        if let Some(given) = dataset_size.filter(|&given| given <= largest || given >> 32 > 0) {
            let allowed = format!("a whole number from {} to {}", largest + 1, u32::MAX);
            let hint = "records count from 0, and the log has one of that index";
            return Err(Error::bad_value("dataset_size", given, allowed, hint));
        }
        let size = dataset_size.unwrap_or(largest + 1);
        let most = LARGEST_SPARSE.max(16 * log.entries() as u64);
        if size > most {
            let allowed = format!("at most {most} for a log of {} entries", log.entries());
            let hint = "records count from 0 in the order of the file: log positions, not identifiers";
            return Err(Error::bad_value("dataset_size", size, allowed, hint));
        }
        let mut defects = Defects::default();
        let mut batches: BTreeMap<u32, BTreeMap<u32, WorkersBatches<'_>>> = BTreeMap::new();
        for (batch, records) in log.iter() {
            batches
                .entry(batch.epoch)
                .or_default()
                .entry(batch.rank)
                .or_default()
                .push((batch.worker, records));
        }
        let mut logged = LoggedEpochs {
            dataset_size: size as usize,
            largest_size: LargestSize::stated(size as usize),
            epochs: Vec::new(),
            numbers: Vec::new(),
            batch_size: 0,
            ranks: 1,
            workers: 1,
            uses: Uses { by_ranks: 1, by_workers: 1 },
            steps_are_ordered: false,
        };
        for (number, ranks) in batches {
            logged.ranks = logged.ranks.max(ranks.len());
            let ranks: Vec<Batches<'_>> =
                ranks.into_values().map(|batches| logged.one_of_the_workers(batches, &mut defects)).collect();
            for epoch in one_epoch_or_several(ranks, &mut defects) {
                logged.epochs.push(epoch);
                logged.numbers.push(u64::from(number));
            }
        }
        if logged.ranks > 1
            && let Some(defect) = ranks_together::defect(log)
        {
            defects.found.entry(defect.defect).or_insert(defect);
        }
        logged.uses = defects.uses();
        if dataset_size.is_none() {
            // Epochs that repeat the first epoch give no new information.
            let is_reused = logged.epochs.windows(2).all(|pair| pair[0] == pair[1]);
            let telling = if is_reused { 1 } else { logged.epochs.len() };
            let dealt: Vec<usize> =
                logged.epochs.iter().take(telling).map(|epoch| epoch.records.len()).collect();
            logged.largest_size = LargestSize::of(&dealt, logged.dataset_size);
        }
        let sizes = logged.epochs.iter().flat_map(LoggedEpoch::steps).map(<[u32]>::len);
        logged.batch_size = sizes.max().unwrap_or(0);
        let is_unsorted = logged.epochs.iter().flat_map(LoggedEpoch::steps).any(|step| !step.is_sorted());
        let is_in_file_order = logged.epochs.iter().all(|epoch| epoch.records.is_sorted());
        logged.steps_are_ordered = is_unsorted || is_in_file_order;
        Ok((logged, defects.into_list()))
    }

    /// Returns the batches of one worker if all workers have the same records, else all batches.
    fn one_of_the_workers<'a>(&mut self, batches: WorkersBatches<'a>, defects: &mut Defects) -> Batches<'a> {
        let mut workers: BTreeMap<Option<u32>, Batches<'a>> = BTreeMap::new();
        for &(worker, records) in &batches {
            workers.entry(worker).or_default().push(records);
        }
        self.workers = self.workers.max(workers.len());
        let streams: Vec<Batches<'a>> = workers.into_values().collect();
        if streams.len() > 1 && are_copies(&streams) {
            defects.copies("worker", &streams);
            return streams.into_iter().next().unwrap_or_default();
        }
        batches.into_iter().map(|(_, records)| records).collect()
    }
}

/// Makes the epochs from the batches of each rank. Copies are removed, and unmarked epochs are split.
fn one_epoch_or_several(mut ranks: Vec<Batches<'_>>, defects: &mut Defects) -> Vec<LoggedEpoch> {
    if ranks.len() > 1 {
        if !are_copies(&ranks) {
            return vec![dealt_in_turn(&ranks)];
        }
        defects.copies("rank", &ranks);
        ranks.truncate(1);
    }
    let batches = ranks.pop().unwrap_or_default();
    let Some(times) = each_record_repeats(&batches) else {
        let Some(begin) = restarts::place(&batches) else { return vec![LoggedEpoch::of_batches(batches)] };
        defects.restarted(&batches[..begin]);
        let (first, whole) = batches.split_at(begin);
        return [first, whole].map(|part| LoggedEpoch::of_batches(part.iter().copied())).into();
    };
    let [runs, turns] = split_batches(&batches, times);
    if are_copies(&runs) {
        defects.unmarked(times);
        return runs.into_iter().map(LoggedEpoch::of_batches).collect();
    }
    if are_copies(&turns) {
        defects.copies("worker", &turns);
        return turns.into_iter().take(1).map(LoggedEpoch::of_batches).collect();
    }
    vec![LoggedEpoch::of_batches(batches)]
}

/// Merges ranks: step t holds batch t of every rank, and the ranks' records take turns.
fn dealt_in_turn(ranks: &[Batches<'_>]) -> LoggedEpoch {
    let mut epoch = LoggedEpoch::default();
    // Finished ranks and batches are dropped, because one rank may be far longer than all others.
    let mut ranks: Vec<&[&[u32]]> = ranks.iter().map(Vec::as_slice).collect();
    loop {
        ranks.retain(|rank| !rank.is_empty());
        if ranks.is_empty() {
            return epoch;
        }
        let mut batches: Batches<'_> = Vec::with_capacity(ranks.len());
        for rank in &mut ranks {
            batches.push(rank[0]);
            *rank = &rank[1..];
        }
        for place in 0.. {
            batches.retain(|batch| batch.len() > place);
            if batches.is_empty() {
                break;
            }
            epoch.records.extend(batches.iter().map(|batch| batch[place]));
        }
        epoch.ends.push(epoch.records.len());
    }
}

/// The defects found, at most one of each kind.
#[derive(Default)]
struct Defects {
    found: BTreeMap<DefectName, Defect>,
    by_ranks: Option<u64>,
    by_workers: Option<u64>,
}

impl Defects {
    fn copies(&mut self, who: &str, streams: &[Batches<'_>]) {
        let records = streams[0].iter().map(|batch| batch.len() as u64).sum();
        let order = if are_the_same(streams) { "in the same order" } else { "each in an order of its own" };
        let uses = if who == "rank" { &mut self.by_ranks } else { &mut self.by_workers };
        *uses = (*uses).max(Some(streams.len() as u64));
        let defect = if who == "rank" {
            DefectName::RanksDealTheSameRecords
        } else {
            DefectName::WorkersDealTheSameRecords
        };
        let message = format!(
            "{} {who}s deal all {records} records of an epoch, {order}: every record is used {} times an epoch, and nothing was \
             split between the {who}s. What follows is about one of them.",
            streams.len(),
            streams.len()
        );
        self.found.entry(defect).or_insert(Defect { defect, records, message });
    }

    fn restarted(&mut self, first: &[&[u32]]) {
        let records = first.iter().map(|batch| batch.len() as u64).sum();
        let message = format!(
            "An epoch begins again after {} batches: {records} records are used once more than an accountant counts. The first try was \
             taken as an epoch of its own.",
            first.len()
        );
        let defect = DefectName::EpochRestarted;
        self.found.entry(defect).or_insert(Defect { defect, records, message });
    }

    fn unmarked(&mut self, times: usize) {
        let message = format!(
            "What the log calls one epoch passes {times} times over the records; it was taken as {times} epochs. Log the number of \
             the epoch with each batch."
        );
        let defect = DefectName::EpochsNotMarked;
        self.found.entry(defect).or_insert(Defect { defect, records: 0, message });
    }

    fn uses(&self) -> Uses {
        Uses { by_ranks: self.by_ranks.unwrap_or(1), by_workers: self.by_workers.unwrap_or(1) }
    }

    fn into_list(self) -> Vec<Defect> {
        self.found.into_values().collect()
    }
}
