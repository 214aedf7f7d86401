//! With replacement: every entry of a batch is drawn anew from all records.

use super::SchemeEvidence;
use super::allocation::of_order;
use crate::orders::uneven;
use crate::p_values::{Tests, count, dispersion};
use libm::{lgamma, log};
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::WithReplacement;

/// The likelihood of a log under this scheme: 1 / n for each entry.
///
/// If steps are sets, a batch has as many orders as its records can be arranged in.
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let (incidence, logged) = (evidence.incidence, evidence.logged);
    if let Some(why) = uneven(logged) {
        return Candidate::impossible(SCHEME, why);
    }
    let (n, entries) = (incidence.dataset_size, incidence.entries());
    let mut log_likelihood = -entries * log(n);
    // Pairs of equal entries in one batch.
    let (mut twice, mut expected) = (0.0, 0.0);
    let mut sorted = Vec::new();
    for records in logged.epochs.iter().flat_map(super::super::logged_epochs::LoggedEpoch::steps) {
        sorted.clear();
        sorted.extend_from_slice(records);
        sorted.sort_unstable();
        let size = records.len() as f64;
        expected += 0.5 * size * (size - 1.0) / n;
        let mut arrangements = lgamma(size + 1.0);
        for same in sorted.chunk_by(|one, other| one == other).filter(|same| same.len() > 1) {
            let times = same.len() as f64;
            twice += 0.5 * times * (times - 1.0);
            arrangements -= lgamma(times + 1.0);
        }
        if !logged.steps_are_ordered {
            log_likelihood += arrangements;
        }
    }
    let mut tests = Tests::default();
    tests.insert(
        "too many or too few records that are twice in a batch",
        count(twice, expected, expected * (1.0 - 1.0 / n)),
    );
    let mean = entries / n;
    let squares: f64 = incidence
        .counts
        .iter()
        .map(|&count| (f64::from(count) - mean) * (f64::from(count) - mean) / mean)
        .sum();
    tests.insert(
        "that some records are dealt too often, or all too equally often",
        dispersion(squares, n - 1.0, (n - 1.0) * 2.0 * (1.0 - 1.0 / entries.max(2.0))),
    );
    of_order(incidence, &mut tests);
    Candidate {
        scheme: SCHEME,
        parameters: SchemeParameters::default(),
        log_likelihood: Some(log_likelihood),
        p_value: tests.p_value(),
        evidence: tests.evidence(),
    }
}
