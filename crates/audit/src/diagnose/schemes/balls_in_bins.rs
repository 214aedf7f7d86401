//! Every record joins one uniformly chosen batch, independently of the others.

use super::super::p_values::{Tests, count, dispersion, normal};
use super::Evidence;
use super::once_an_epoch::once;
use libm::{lgamma, log};
use misdeal_core::{Candidate, SchemeParameters};

const SCHEME: &str = "balls-in-bins";

/// An epoch has probability T^-n. If steps are ordered, every order of a batch is equally likely.
pub fn candidate(evidence: &Evidence<'_>) -> Candidate {
    let orders = match once(evidence) {
        Ok(orders) => orders,
        Err(why) => return Candidate::impossible(SCHEME, why),
    };
    let n = orders.dataset_size;
    if orders.repeated > 0 || orders.epochs.iter().any(|epoch| epoch.records.len() != n) {
        return Candidate::impossible(SCHEME, "some records are missing from an epoch, or in it twice");
    }
    let incidence = evidence.incidence;
    let mut log_likelihood = 0.0;
    let (mut squares, mut mean, mut variance) = (0.0, 0.0, 0.0);
    let records = n as f64;
    for epoch in &orders.epochs {
        let bins = epoch.ends.len() as f64;
        log_likelihood -= records * log(bins);
        for step in epoch.steps() {
            let size = step.len() as f64;
            if orders.ordered {
                log_likelihood -= lgamma(size + 1.0);
            }
            squares += (size - records / bins) * (size - records / bins) * bins / records;
        }
        mean += bins - 1.0;
        variance += 2.0 * (bins - 1.0) * (records - 1.0) / records;
    }
    let mut tests = Tests::default();
    tests.insert("batch sizes too alike or too unlike", dispersion(squares, mean, variance));
    let trend = incidence.trend;
    tests.insert(
        "records dealt in the order of the file",
        if trend.variance > 0.0 { normal(trend.value / trend.variance.sqrt()) } else { 1.0 },
    );
    // Pairs of neighbours share a batch with probability 1 / T, pairwise independently.
    let near = incidence.neighbours;
    let fewest = orders.epochs.iter().map(|epoch| epoch.ends.len()).min().unwrap_or(1) as f64;
    tests.insert(
        "neighbours in the file that keep together",
        count(near.value, near.mean, near.mean * (1.0 - 1.0 / fewest)),
    );
    let kept = incidence.kept;
    tests.insert(
        "records that keep their batch in the next epoch",
        count(kept.value, kept.mean, kept.variance),
    );
    Candidate {
        scheme: SCHEME,
        parameters: SchemeParameters::default(),
        log_likelihood: Some(log_likelihood),
        p_value: tests.p_value(),
        evidence: tests.evidence(),
    }
}
