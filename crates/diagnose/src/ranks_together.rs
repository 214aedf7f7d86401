//! Ranks that draw from one seed: records of different shards that are always in the same step.

use misdeal_files::batch_log::BatchLog;
use misdeal_results::{Defect, DefectName};
use std::collections::BTreeMap;

/// Fewest times that a pair must be confirmed by another batch.
const FEWEST: usize = 20;

/// The defect of a log whose ranks take the same places of their shards; `None` if they draw independently.
///
/// Batches of all ranks in a step are as long. Sorted, their records pair up in the same way whenever they come. A loader whose
/// epochs all have the same order does that, too, and is no such case.
pub fn defect(log: &BatchLog) -> Option<Defect> {
    let mut streams: BTreeMap<u32, Vec<(u32, &[u32])>> = BTreeMap::new();
    for (batch, records) in log.iter() {
        streams.entry(batch.rank).or_default().push((batch.epoch, records));
    }
    let mut ranks = streams.into_values();
    let first = ranks.next()?;
    let largest = log.largest_record()? as usize;
    let mut count = 1_u64;
    for other in ranks {
        count += 1;
        if first.len() != other.len() || !is_paired(&first, &other, largest) {
            return None;
        }
    }
    if count == 1 || repeats(&first) {
        return None;
    }
    let records = log.entries() as u64 / count;
    let message = format!(
        "The {count} ranks draw the same places of their shards in every step, as if all had one seed: records are always sampled \
         together, so that one shows when another is used. Give every rank a seed of its own."
    );
    Some(Defect { defect: DefectName::RanksShareSeed, records, message })
}

fn is_paired(one: &[(u32, &[u32])], other: &[(u32, &[u32])], largest: usize) -> bool {
    let mut partner = vec![u32::MAX; largest + 1];
    let (mut confirmed, mut differ) = (0, false);
    let [mut left, mut right] = [Vec::new(), Vec::new()];
    for (&(_, mine), &(_, theirs)) in one.iter().zip(other) {
        if mine.len() != theirs.len() {
            return false;
        }
        left.clear();
        left.extend_from_slice(mine);
        left.sort_unstable();
        right.clear();
        right.extend_from_slice(theirs);
        right.sort_unstable();
        for (&one, &other) in left.iter().zip(&right) {
            differ |= one != other;
            let known = &mut partner[one as usize];
            if *known == other {
                confirmed += 1;
            } else if *known != u32::MAX {
                return false;
            }
            *known = other;
        }
    }
    differ && confirmed >= FEWEST
}

/// Whether all epochs have the same batches, as sets.
fn repeats(stream: &[(u32, &[u32])]) -> bool {
    let mut epochs: BTreeMap<u32, Vec<Vec<u32>>> = BTreeMap::new();
    for &(epoch, records) in stream {
        let mut sorted = records.to_vec();
        sorted.sort_unstable();
        epochs.entry(epoch).or_default().push(sorted);
    }
    let epochs: Vec<_> = epochs.into_values().collect();
    epochs.len() > 1 && epochs.windows(2).all(|pair| pair[0] == pair[1])
}
