//! Shuffle: a fresh uniform permutation in every epoch.

use super::once_an_epoch::{fixed_sizes, lead, log_likelihood, tests};
use super::poisson::MEET_AGAIN;
use super::{EARLY_OR_LATE, SchemeEvidence};
use crate::choices::Choices;
use crate::orders::Orders;
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::Shuffle;

/// The likelihood of a log under this scheme: 1 / n! for each epoch's order, independently.
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let orders = match fixed_sizes(evidence) {
        Ok(orders) => orders,
        Err(why) => return Candidate::impossible(SCHEME, why),
    };
    let once = log_likelihood(Choices::All, orders, orders.distinct_epochs());
    let log_likelihood =
        once.map(|once| if orders.reused { once * orders.epochs.len() as f64 } else { once });
    let mut tests = tests(Choices::All, orders, &orders.epochs);
    if orders.ordered {
        // Exact: the probability that no record comes further ahead of its place than in this log.
        tests.insert(
            "that no record comes far ahead of its place in the file",
            libm::exp(-lead_of_the_least_buffer(orders)),
        );
    }
    tests.insert(MEET_AGAIN, evidence.companions_of_epochs().p_value());
    tests.insert(EARLY_OR_LATE, evidence.places().p_value());
    Candidate {
        scheme: SCHEME,
        parameters: SchemeParameters::default(),
        log_likelihood,
        p_value: tests.p_value(),
        evidence: tests.evidence(),
    }
}

/// How far the smallest possible sliding buffer leads a full shuffle, as a difference of log-likelihoods.
///
/// Under the full shuffle it is exponential with mean 1.
fn lead_of_the_least_buffer(orders: &Orders) -> f64 {
    lead(Choices::Sliding(orders.reach().max(1)), orders)
}
