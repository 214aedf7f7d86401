//! Partial shuffle: blocks of consecutive records, each permuted.

use super::once_an_epoch::{drawn_anew_or_reused, fixed_sizes, lead, log_likelihood};
use super::{CERTAIN_LEAD, SchemeEvidence};
use crate::choices::Choices;
use crate::logged_epochs::LoggedEpoch;
use crate::orders::Orders;
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};
use std::collections::BTreeMap;

const SCHEME: LoggedScheme = LoggedScheme::PartialShuffle;

/// Number of sizes compared when steps have no order.
const MOST_SIZES: usize = 64;

/// The likelihood of a log under this scheme.
///
/// If no record leaves its block, an order has the probability product of 1 / K! over the blocks. The smallest possible size is
/// therefore the most likely. If steps are sets, several sizes are compared.
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let orders = match fixed_sizes(evidence) {
        Ok(orders) => orders,
        Err(why) => return Candidate::impossible(SCHEME, why),
    };
    let is_told = |size: &usize| lead(Choices::Block(*size), orders) >= CERTAIN_LEAD;
    let cuts = cuts(orders);
    let largest = largest_records(orders);
    let holds_the_last = |size: usize| {
        let bound = |dealt: usize| Choices::Block(size).bound(dealt - 1, orders.dataset_size);
        largest.iter().all(|(&dealt, &record)| (record as usize) < bound(dealt))
    };
    let is_possible = |size: &usize| divides(*size, &cuts) && holds_the_last(*size);
    let sizes = (2..orders.dataset_size).filter(is_possible).take_while(is_told);
    let best = if orders.ordered {
        sizes.take(1).next()
    } else {
        let valued = sizes.take(MOST_SIZES).filter_map(|size| {
            let value = log_likelihood(Choices::Block(size), orders, orders.distinct_epochs())?;
            Some((size, value))
        });
        valued.max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0))).map(|(size, _)| size)
    };
    match best {
        None => Candidate::impossible(
            SCHEME,
            "at every block size short of a full shuffle some record leaves its block",
        ),
        Some(size) => {
            let parameters =
                SchemeParameters { buffer_size: Some(size as u64), ..SchemeParameters::default() };
            drawn_anew_or_reused(SCHEME, Choices::Block(size), orders, parameters)
        }
    }
}

/// For each number of records in incomplete epochs, the largest record that they contain.
///
/// Every size is compared with these records only, not with all records.
fn largest_records(orders: &Orders) -> BTreeMap<usize, u32> {
    let mut largest = BTreeMap::new();
    for LoggedEpoch { records, .. } in orders.distinct_epochs() {
        if let Some(&record) = records.iter().max().filter(|_| records.len() < orders.dataset_size) {
            let known = largest.entry(records.len()).or_insert(record);
            *known = record.max(*known);
        }
    }
    largest
}

/// For every `place`, whether the first `place` records of all epochs are the first records of the file.
fn cuts(orders: &Orders) -> Vec<bool> {
    let mut cuts = vec![true; orders.dataset_size + 1];
    for epoch in orders.distinct_epochs() {
        let mut largest = 0;
        for (place, &record) in epoch.records.iter().enumerate() {
            largest = largest.max(record as usize);
            cuts[place + 1] &= largest == place;
        }
    }
    cuts
}

/// Whether all blocks of `size` end at cuts. Positions that no epoch reaches count as cuts.
fn divides(size: usize, cuts: &[bool]) -> bool {
    cuts.iter().skip(size).step_by(size).take((cuts.len() - 2) / size).all(|&cut| cut)
}
