//! Likely causes of a log that fits no scheme, and the epochs that show them.

use crate::copies::mixed;
use crate::logged_epochs::{LoggedEpoch, LoggedEpochs};
use crate::schemes::SchemeEvidence;
use crate::structure;
use crate::verdict::RULED_OUT;
use std::collections::HashMap;

/// Hints in words, the likeliest first, and the numbers of the epochs that they are about.
pub fn of(evidence: &SchemeEvidence<'_>) -> (Vec<String>, Vec<u64>) {
    let logged = evidence.logged;
    let mut hints = Vec::new();
    let mut concerned: Vec<usize> = Vec::new();
    if let Some((one, other)) = recurring(logged) {
        hints.push(format!(
            "Epoch {} has the very order of epoch {}. A restart may have set the generator back: seed it with the epoch's number.",
            logged.numbers[other], logged.numbers[one]
        ));
        concerned.extend([one, other]);
    }
    if let Some(hint) = physical_batches(logged) {
        hints.push(hint);
    }
    if let Some(epoch) = unequal_epoch(logged) {
        hints.push(format!(
            "Epoch {} has {} records and the others have {}: it may have been interrupted, or begun again. Log whole epochs.",
            logged.numbers[epoch],
            logged.epochs[epoch].records.len(),
            typical_length(logged)
        ));
        concerned.push(epoch);
    }
    if let Some(near) = evidence.orders.and_then(structure::neighbours) {
        hints.push(format!(
            "Neighbours in the file come {:.0} % as far apart as in a full shuffle: shards or files may be permuted as a whole.",
            100.0 * near
        ));
    }
    let (companions, places) = (evidence.companions_of_epochs(), evidence.places());
    if companions.p_value() < RULED_OUT && companions.is_excess() {
        let how = if companions.share() > 0.9 {
            "Batches are fixed, and only their order changes: batch the records after shuffling them"
        } else {
            "Some records share batches again and again: batches may follow lengths, labels, shards or stages"
        };
        hints.push(format!("{how}."));
        if let Some([one, other]) = companions.worst {
            concerned.extend([one, other]);
        }
    }
    if places.p_value() < RULED_OUT {
        let when = if places.correlation() > 0.0 {
            "early, or late, in every epoch"
        } else {
            "early in one epoch and late in another"
        };
        hints.push(format!(
            "Some records come {when}: the order may be weighted, sorted in part, or reversed."
        ));
    }
    if evidence.orders.is_none() && logged.ranks == 1 && is_several_passes(logged) {
        hints.push(
            "An epoch uses most records several times. If several ranks wrote the log, give each batch its \"rank\"; if several epochs \
             did, its \"epoch\"."
                .into(),
        );
    }
    concerned.sort_unstable();
    concerned.dedup();
    (hints, concerned.into_iter().map(|epoch| logged.numbers[epoch]).collect())
}

/// Two epochs that are not neighbours and have the same records in the same order.
pub fn recurring(logged: &LoggedEpochs) -> Option<(usize, usize)> {
    let mut seen: HashMap<u64, usize> = HashMap::new();
    for (number, epoch) in logged.epochs.iter().enumerate() {
        if epoch.ends.len() < 2 && epoch.records.len() < 20 {
            continue;
        }
        let digest =
            epoch.records.iter().fold(0, |digest: u64, &record| digest.rotate_left(7) ^ mixed(record));
        if let Some(&earlier) = seen.get(&digest).filter(|&&earlier| logged.epochs[earlier] == *epoch)
            && number > earlier + 1
        {
            return Some((earlier, number));
        }
        seen.insert(digest, number);
    }
    None
}

/// Whether batches come as some of the largest size and one smaller, again and again: pieces of logical batches.
fn physical_batches(logged: &LoggedEpochs) -> Option<String> {
    let sizes: Vec<usize> = logged.epochs.iter().flat_map(LoggedEpoch::steps).map(<[u32]>::len).collect();
    let full = sizes.iter().filter(|&&size| size == logged.batch_size).count();
    let smaller = sizes.len() - full;
    // A shuffle has one smaller batch in each epoch and worker.
    let is_usual = smaller <= logged.epochs.len() * logged.workers.max(1);
    if is_usual || full * 10 < sizes.len() * 3 || sizes.len() < 20 {
        return None;
    }
    Some(format!(
        "{full} of {} batches have {} records and {smaller} have fewer. If a memory manager cuts logical batches into physical ones, log \
         the logical batches; if buckets leave short batches over, records of like length share batches.",
        sizes.len(),
        logged.batch_size
    ))
}

fn typical_length(logged: &LoggedEpochs) -> usize {
    let mut lengths: Vec<usize> = logged.epochs.iter().map(|epoch| epoch.records.len()).collect();
    lengths.sort_unstable();
    lengths[lengths.len() / 2]
}

/// An epoch of another length than most, by more than a batch.
fn unequal_epoch(logged: &LoggedEpochs) -> Option<usize> {
    let typical = typical_length(logged);
    let is_off = |epoch: &LoggedEpoch| epoch.records.len().abs_diff(typical) > logged.batch_size;
    let off = logged.epochs.iter().filter(|epoch| is_off(epoch)).count();
    let found = logged.epochs.iter().position(is_off);
    found.filter(|_| off * 3 <= logged.epochs.len())
}

fn is_several_passes(logged: &LoggedEpochs) -> bool {
    logged.epochs.iter().any(|epoch| epoch.records.len() as f64 > 1.5 * logged.dataset_size as f64)
}
