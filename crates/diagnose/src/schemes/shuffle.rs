//! A fresh uniform permutation in every epoch.

use super::Evidence;
use super::once_an_epoch::{fixed_sizes, lead, log_likelihood, tests};
use crate::choices::Choices;
use crate::orders::Orders;
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::Shuffle;

/// An order has probability 1 / n!, independently in every epoch.
pub fn candidate(evidence: &Evidence<'_>) -> Candidate {
    let orders = match fixed_sizes(evidence) {
        Ok(orders) => orders,
        Err(why) => return Candidate::impossible(SCHEME, why),
    };
    let once = log_likelihood(Choices::All, orders, orders.distinct_epochs());
    let log_likelihood =
        once.map(|once| if orders.reused { once * orders.epochs.len() as f64 } else { once });
    let mut tests = tests(Choices::All, orders, &orders.epochs);
    if orders.ordered {
        // Exact: the probability that no record comes further ahead of its place than here.
        tests.insert(
            "that no record comes far ahead of its place in the file",
            libm::exp(-lead_of_the_least_buffer(orders)),
        );
    }
    Candidate {
        scheme: SCHEME,
        parameters: SchemeParameters::default(),
        log_likelihood,
        p_value: tests.p_value(),
        evidence: tests.evidence(),
    }
}

/// How far the smallest sliding buffer that could have made these orders leads a full shuffle: exponential with mean 1 under
/// the shuffle.
fn lead_of_the_least_buffer(orders: &Orders) -> f64 {
    lead(Choices::Sliding(orders.reach().max(1)), orders)
}
