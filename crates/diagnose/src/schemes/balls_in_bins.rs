//! Balls in bins: every record joins one uniformly chosen batch, independently of the others.

use super::once_an_epoch::once;
use super::poisson::MEET_AGAIN;
use super::{EARLY_OR_LATE, SchemeEvidence};
use crate::batch_sizes::fit;
use crate::p_values::{Tests, count, dispersion, normal};
use libm::{lgamma, log};
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::BallsInBins;

/// The likelihood of a log under this scheme.
///
/// An epoch of n records in T bins has probability T^-n. If an epoch leaves records out, the log may show only k of more bins.
/// Then m of n records are in the shown bins with probability q^m (1 - kq)^(n - m), where q takes its most likely value. If steps
/// are ordered, every order of a batch is equally likely.
///
/// Bins that are the same in all epochs are another law, which leaks far more.
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let orders = match once(evidence) {
        Ok(orders) => orders,
        Err(why) => return Candidate::impossible(SCHEME, why),
    };
    let n = orders.file_size;
    if orders.repeated > 0 {
        return Candidate::impossible(SCHEME, "some records are in an epoch twice");
    }
    let incidence = evidence.incidence;
    let kept = incidence.kept;
    if orders.epochs.len() > 1 && kept.value >= n as f64 * (orders.epochs.len() - 1) as f64 {
        return Candidate::impossible(
            SCHEME,
            "every record keeps its batch in all epochs: the bins were drawn once, and not anew in each epoch",
        );
    }
    let steps: usize = incidence.steps.iter().sum();
    let share = incidence.entries() / (n * steps) as f64;
    let mut log_likelihood = 0.0;
    let (mut squares, mut mean, mut variance) = (0.0, 0.0, 0.0);
    let records = n as f64;
    for epoch in &orders.epochs {
        let shown = epoch.ends.len() as f64;
        let dealt = epoch.records.len() as f64;
        let is_whole = dealt >= records;
        // Number of bins of the whole epoch; the log shows some of them.
        let bins = if is_whole { shown } else { (1.0 / share).max(shown) };
        log_likelihood -= dealt * log(bins);
        if !is_whole {
            log_likelihood += (records - dealt) * log((1.0 - shown / bins).max(f64::MIN_POSITIVE));
        }
        for step in epoch.steps() {
            let size = step.len() as f64;
            if orders.ordered {
                log_likelihood -= lgamma(size + 1.0);
            }
            squares += (size - records / bins) * (size - records / bins) * bins / records;
        }
        mean += shown - shown / bins;
        variance += 2.0 * (shown - shown / bins) * (records - 1.0).max(0.0) / records;
    }
    let mut tests = Tests::default();
    tests.insert("batch sizes too alike or too unlike", dispersion(squares, mean, variance));
    let trend = incidence.trend;
    tests.insert(
        "records dealt in the order of the file",
        if trend.variance > 0.0 { normal(trend.value / trend.variance.sqrt()) } else { 1.0 },
    );
    // Pairs of neighbours share a batch with probability 1 / T, and are pairwise independent.
    let near = incidence.neighbours;
    let fewest = orders.epochs.iter().map(|epoch| epoch.ends.len()).min().unwrap_or(1) as f64;
    tests.insert(
        "neighbours in the file that keep together",
        count(near.value, near.mean, near.mean * (1.0 - 1.0 / fewest)),
    );
    tests.insert(
        "records that keep their batch in the next epoch",
        count(kept.value, kept.mean, kept.variance),
    );
    tests.insert(MEET_AGAIN, evidence.companions_of_epochs().p_value());
    tests.insert(EARLY_OR_LATE, evidence.places().p_value());
    if orders.epochs.iter().all(|epoch| epoch.records.len() >= orders.file_size) {
        let bins = orders.epochs[0].ends.len();
        if orders.epochs.iter().all(|epoch| epoch.ends.len() == bins) {
            tests.insert(
                "batch sizes that are not binomial",
                fit(&incidence.sizes, records, 1.0 / bins as f64, None),
            );
        }
    }
    Candidate {
        scheme: SCHEME,
        parameters: SchemeParameters::default(),
        log_likelihood: Some(log_likelihood),
        p_value: tests.p_value(),
        evidence: tests.evidence(),
    }
}

/// Tests the sizes of one epoch's bins against the law of n records in them.
pub fn size_tests(sizes: &[f64], n: f64) -> Tests {
    let bins = sizes.len() as f64;
    let squares: f64 = sizes.iter().map(|size| (size - n / bins) * (size - n / bins) * bins / n).sum();
    let mut tests = Tests::default();
    let variance = 2.0 * (bins - 1.0) * (n - 1.0).max(0.0) / n;
    tests.insert("batch sizes too alike or too unlike", dispersion(squares, bins - 1.0, variance));
    tests.insert("batch sizes that are not binomial", fit(sizes, n, 1.0 / bins, None));
    tests
}
