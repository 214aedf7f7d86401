//! Balls in bins, drawn once: every record keeps its batch in all epochs.

use super::SchemeEvidence;
use super::balls_in_bins::size_tests;
use super::once_an_epoch::once;
use libm::{lgamma, log};
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::BallsInBinsOnce;

/// The likelihood of a log under this scheme: T^-n for the first epoch's bins, and 1 for the others.
///
/// If steps are ordered, every order of a batch in every epoch is equally likely.
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let orders = match once(evidence) {
        Ok(orders) => orders,
        Err(why) => return Candidate::impossible(SCHEME, why),
    };
    let (n, kept, epochs) = (orders.file_size as f64, evidence.incidence.kept, orders.epochs.len());
    if epochs < 2 || orders.repeated > 0 || orders.epochs[0].records.len() < orders.dataset_size {
        return Candidate::impossible(SCHEME, "no two complete epochs have each record once");
    }
    if kept.value < orders.dataset_size as f64 * (epochs - 1) as f64 {
        return Candidate::impossible(SCHEME, "records change their batch from epoch to epoch");
    }
    let first = &orders.epochs[0];
    let mut log_likelihood = -n * log(first.ends.len() as f64);
    if orders.ordered {
        let fresh = if orders.reused { 1 } else { epochs };
        for epoch in &orders.epochs[..fresh] {
            log_likelihood -= epoch.steps().map(|step| lgamma(step.len() as f64 + 1.0)).sum::<f64>();
        }
    }
    let sizes: Vec<f64> = first.steps().map(|step| step.len() as f64).collect();
    let tests = size_tests(&sizes, n);
    Candidate {
        scheme: SCHEME,
        parameters: SchemeParameters::default(),
        log_likelihood: Some(log_likelihood),
        p_value: tests.p_value(),
        evidence: tests.evidence(),
    }
}
