//! A sliding buffer.

use super::once_an_epoch::{drawn_anew_or_reused, fixed_sizes, lead, log_likelihood};
use super::{CERTAIN_LEAD, SchemeEvidence};
use crate::choices::{Choices, half};
use crate::orders::Orders;
use libm::log;
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::StreamShuffle;

/// An order has probability K^-(n - K) / K! if no record is dealt before it is read, so that the smallest size at which none is is the
/// likeliest. Where steps are sets, larger ones may be likelier, because they allow more orders within a step.
///
/// The upper bound on the size: a buffer of K gives orders that one of k < K could have made with probability P_K / P_k of a
/// single order.
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let orders = match fixed_sizes(evidence) {
        Ok(orders) => orders,
        Err(why) => return Candidate::impossible(SCHEME, why),
    };
    let reach = orders.reach();
    let is_told = |size: usize| lead(Choices::Sliding(size), orders) >= CERTAIN_LEAD;
    if reach < 2 || !is_told(reach) {
        let evidence = if reach < 2 {
            "the records are in file order"
        } else {
            "records come so far ahead of their places that no buffer short of a full shuffle could do it"
        };
        return Candidate::impossible(SCHEME, evidence);
    }
    if let Some(refilled) = refilled_by_halves(orders, reach) {
        return refilled;
    }
    let size = if orders.ordered { reach } else { likeliest(orders, reach) };
    if !is_told(size) {
        return Candidate::impossible(SCHEME, "the likeliest buffer is as good as a full shuffle");
    }
    let least = lead(Choices::Sliding(size), orders) + log(0.05);
    let is_too_large = |size: usize| lead(Choices::Sliding(size), orders) < least;
    let upper = first(size, orders.dataset_size + 1, is_too_large) - 1;
    let parameters = SchemeParameters {
        buffer_size: Some(size as u64),
        buffer_size_upper_bound: Some(upper.max(size) as u64),
        ..SchemeParameters::default()
    };
    drawn_anew_or_reused(SCHEME, Choices::Sliding(size), orders, parameters)
}

/// The same buffer read in portions of half its size, if that is the better explanation by enough to be certain: it leaves fewer
/// choices, so that a possible order is likelier.
fn refilled_by_halves(orders: &Orders, reach: usize) -> Option<Candidate> {
    let is_possible = |size: usize| {
        let choices = Choices::RefilledByHalves(size);
        orders.distinct_epochs().iter().all(|epoch| choices.allows(epoch, orders.dataset_size))
    };
    let size =
        (reach..orders.dataset_size).take(8 + (reach / 50).min(500)).find(|&size| is_possible(size))?;
    let choices = Choices::RefilledByHalves(size);
    if lead(choices, orders) < lead(Choices::Sliding(reach), orders) + CERTAIN_LEAD {
        return None;
    }
    let parameters = SchemeParameters {
        buffer_size: Some(size as u64),
        refilled_by: Some(half(size) as u64),
        ..SchemeParameters::default()
    };
    Some(drawn_anew_or_reused(SCHEME, choices, orders, parameters))
}

/// The size from `reach` on under which the sets are likeliest: the first after which the likelihood falls.
fn likeliest(orders: &Orders, reach: usize) -> usize {
    let value = |size: usize| {
        let found = log_likelihood(Choices::Sliding(size), orders, orders.distinct_epochs());
        found.unwrap_or(f64::NEG_INFINITY)
    };
    let falls_after = |size: usize| value(size) >= value(size + 1);
    first(reach, orders.dataset_size.min(reach + 4 * orders.batch_size), falls_after)
}

/// The first number from `start` that `holds`, given that all after it do too; `end` if none before it does.
fn first(start: usize, end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (start, end);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
