//! Shuffle once: one uniform permutation, the same in all epochs.

use super::SchemeEvidence;
use super::once_an_epoch::{fixed_sizes, log_likelihood, tests};
use crate::choices::Choices;
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::ShuffleOnce;

/// The likelihood of a log under this scheme: 1 / n! for the first epoch's order, and 1 for the others.
///
/// A log of one epoch cannot distinguish this scheme from a fresh shuffle.
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let orders = match fixed_sizes(evidence) {
        Ok(orders) => orders,
        Err(why) => return Candidate::impossible(SCHEME, why),
    };
    if !orders.reused && orders.epochs.len() > 1 {
        return Candidate::impossible(SCHEME, "epochs have different orders");
    }
    let first = &orders.epochs[..1];
    let tests = tests(Choices::All, orders, first);
    Candidate {
        scheme: SCHEME,
        parameters: SchemeParameters::default(),
        log_likelihood: log_likelihood(Choices::All, orders, first),
        p_value: tests.p_value(),
        evidence: tests.evidence(),
    }
}
