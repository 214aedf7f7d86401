//! A log brought into the form in which schemes are described: epochs of steps, ranks and copies put together.

use crate::copies::{Batches, are_copies, are_the_same, each_record_repeats, split_batches};
use crate::population::LargestSize;
use misdeal_core::{Error, Result};
use misdeal_files::batch_log::BatchLog;
use misdeal_results::{Defect, DefectName};
use std::collections::BTreeMap;

/// The largest data set of which a log may show any small part: what is kept for each record stays below a gigabyte.
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
    /// The steps' records.
    pub fn steps(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let step = &self.records[start..end];
            start = end;
            step
        })
    }

    /// One step for each batch.
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
    /// Records in the file: as stated, or one more than the largest index.
    pub dataset_size: usize,
    /// How many there may be.
    pub largest_size: LargestSize,
    /// The passes over it.
    pub epochs: Vec<LoggedEpoch>,
    /// The numbers under which the log knows them.
    pub numbers: Vec<u64>,
    /// The largest step.
    pub batch_size: usize,
    /// Processes of a distributed run.
    pub ranks: usize,
    /// Workers whose last batches may each be shorter.
    pub workers: usize,
    /// How often each record is used for each time that the epochs have it.
    pub uses: Uses,
    /// Whether the order within a step means anything: a loader that sorts its batches leaves sets.
    pub steps_are_ordered: bool,
}

impl LoggedEpochs {
    /// Whether every epoch deals all records but those that do not fill a batch.
    pub fn is_complete(&self) -> bool {
        let unfilled = self.batch_size * self.workers.max(1);
        self.epochs.iter().all(|epoch| epoch.records.len() + unfilled > self.dataset_size)
    }
}

/// Copies of the epochs that were left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uses {
    /// Copies of a batch in the same step, or in any other: processes that were not told apart.
    pub by_ranks: u64,
    /// Copies of an epoch: workers that were not told apart.
    pub by_workers: u64,
}

/// Batches as logged, with their workers.
type WorkersBatches<'a> = Vec<(Option<u32>, &'a [u32])>;

impl LoggedEpochs {
    /// Puts a log's ranks together step by step, and finds what is dealt more than once as a whole.
    ///
    /// Position j of rank r of R becomes position jR + r, which is how distributed samplers deal a permutation out.
    ///
    /// # Errors
    /// A `dataset_size` that does not reach the largest record, or a data set that is far larger than the log.
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
        logged.uses = defects.uses();
        if dataset_size.is_none() {
            // Epochs that repeat the first one show nothing new.
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

    /// The batches of one worker where several deal the same records, else all batches.
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

/// The steps of an epoch whose ranks' batches are given.
fn one_epoch_or_several(mut ranks: Vec<Batches<'_>>, defects: &mut Defects) -> Vec<LoggedEpoch> {
    if ranks.len() > 1 {
        if !are_copies(&ranks) {
            return vec![dealt_in_turn(&ranks)];
        }
        defects.copies("rank", &ranks);
        ranks.truncate(1);
    }
    let batches = ranks.pop().unwrap_or_default();
    let Some(times) = each_record_repeats(&batches) else { return vec![LoggedEpoch::of_batches(batches)] };
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

/// Step t holds batch t of every rank, its records in turn.
fn dealt_in_turn(ranks: &[Batches<'_>]) -> LoggedEpoch {
    let mut epoch = LoggedEpoch::default();
    // Ranks and batches that have ended are not looked at again: one may be far longer than all others.
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

/// What was found wrong, each kind once.
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
