//! Batch then shuffle: consecutive records form batches, and the order of the batches is permuted.

use super::once_an_epoch::once;
use super::{CERTAIN_LEAD, SchemeEvidence};
use crate::choices::Choices;
use crate::logged_epochs::LoggedEpoch;
use crate::orders::Orders;
use crate::rank_tests;
use libm::{lgamma, log};
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::BatchThenShuffle;

/// The likelihood of a log under this scheme.
///
/// An order of k of T batches has probability (T - k)! / T!. If records are not in file order within batches, the batches are
/// assumed to be shuffled inside. Each order of a batch then has probability 1 / B!.
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let orders = match once(evidence) {
        Ok(orders) => orders,
        Err(why) => return Candidate::impossible(SCHEME, why),
    };
    let Some(epochs) =
        orders.epochs.iter().map(|epoch| batch_order(epoch, orders)).collect::<Option<Vec<_>>>()
    else {
        return Candidate::impossible(
            SCHEME,
            "some batch is not a run of records that begins at a multiple of its size",
        );
    };
    let batches = orders.dataset_size.div_ceil(orders.batch_size);
    let inside = |step: &[u32]| if step.is_sorted() { 0.0 } else { 1.0 };
    let is_shuffled_inside = orders.epochs.iter().flat_map(LoggedEpoch::steps).map(inside).sum::<f64>() > 0.0;
    let value = |epoch: &LoggedEpoch| {
        let inner = |step: &[u32]| if is_shuffled_inside { lgamma(step.len() as f64 + 1.0) } else { 0.0 };
        let left = batches.saturating_sub(epoch.ends.len());
        lgamma(left as f64 + 1.0) - lgamma(batches as f64 + 1.0) - epoch.steps().map(inner).sum::<f64>()
    };
    let once: f64 = orders.distinct_epochs().iter().map(value).sum();
    let anew = if orders.reused { once * orders.epochs.len() as f64 } else { once };
    let reused = orders.reused && once - CERTAIN_LEAD > anew;
    let tests = rank_tests::test(Choices::All, if reused { &epochs[..1] } else { &epochs }, batches);
    let set_aside = 2.0 * orders.repeated as f64 * log(orders.dataset_size as f64);
    Candidate {
        scheme: SCHEME,
        parameters: SchemeParameters {
            order_is_reused: reused.then_some(true),
            ..SchemeParameters::default()
        },
        log_likelihood: Some(if reused { once - CERTAIN_LEAD } else { anew } - set_aside),
        p_value: tests.p_value(),
        evidence: tests.evidence(),
    }
}

/// The batch numbers in the order of an epoch, as steps of one record; `None` if some step is not a batch of the file.
///
/// The file's last batch may be shorter.
fn batch_order(epoch: &LoggedEpoch, orders: &Orders) -> Option<LoggedEpoch> {
    let size = orders.batch_size;
    let mut order = LoggedEpoch::default();
    for step in epoch.steps() {
        let first = *step.iter().min()? as usize;
        let last = *step.iter().max()? as usize;
        let is_whole = step.len() == size || last + 1 == orders.dataset_size;
        if !first.is_multiple_of(size) || last - first + 1 != step.len() || !is_whole {
            return None;
        }
        order.records.push((first / size) as u32);
        order.ends.push(order.records.len());
    }
    Some(order)
}
