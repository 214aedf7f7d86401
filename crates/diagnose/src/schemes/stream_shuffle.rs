//! Stream shuffle: a sliding buffer.

use super::once_an_epoch::{drawn_anew_or_reused, fixed_sizes, lead, log_likelihood};
use super::{CERTAIN_LEAD, SchemeEvidence};
use crate::choices::{Choices, half};
use crate::orders::Orders;
use libm::log;
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::StreamShuffle;

/// The likelihood of a log under this scheme.
///
/// If no record is used before it is read, an order has probability K^-(n - K) / K!. The smallest possible size K is therefore the
/// most likely. If steps are sets, larger sizes may be more likely, because they allow more orders within a step.
///
/// The upper bound on the size: let P_K be the probability of a single order under size K. A buffer of size K gives orders that a
/// smaller buffer k could have made with probability P_K / P_k. Sizes for which this is below 0.05 are too large.
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

/// A buffer refilled by halves, if this explanation leads an ordinary sliding buffer by enough to be certain.
///
/// It leaves fewer choices, so a possible order is more likely.
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

/// The most likely size for sets, from `reach` on: the first size after which the likelihood does not grow.
fn likeliest(orders: &Orders, reach: usize) -> usize {
    let value = |size: usize| {
        let found = log_likelihood(Choices::Sliding(size), orders, orders.distinct_epochs());
        found.unwrap_or(f64::NEG_INFINITY)
    };
    let falls_after = |size: usize| value(size) >= value(size + 1);
    first(reach, orders.dataset_size.min(reach + 4 * orders.batch_size), falls_after)
}

/// The first number from `start` for which `holds` is true, or `end` if there is none. `holds` must stay true after it.
fn first(start: usize, end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (start, end);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
