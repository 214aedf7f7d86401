//! Random allocation: every record joins exactly k of an epoch's steps.

use super::SchemeEvidence;
use super::balls_in_bins::size_tests;
use crate::incidence::Incidence;
use crate::p_values::{Tests, count, normal};
use libm::lgamma;
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::Allocation;

/// The likelihood of a log under this scheme: 1 / C(T, k) for each record and epoch.
///
/// Pairs of records are not counted: steps of an epoch depend on each other here, so that their law is another one.
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let incidence = evidence.incidence;
    if incidence.twice_in_a_step.is_some() {
        return Candidate::impossible(SCHEME, "some record is twice in one batch");
    }
    let logged = evidence.logged;
    let n = logged.dataset_size;
    let Some(uses) = uses_of_each(evidence) else {
        return Candidate::impossible(
            SCHEME,
            "records do not all join the same number of batches of an epoch",
        );
    };
    if uses < 2 {
        return Candidate::impossible(
            SCHEME,
            "each record joins one batch of an epoch, which is balls in bins",
        );
    }
    let mut log_likelihood = 0.0;
    let mut tests = Tests::default();
    let mut smallest = 1.0_f64;
    for epoch in &logged.epochs {
        let [steps, k] = [epoch.ends.len() as f64, f64::from(uses)];
        let ways = lgamma(steps + 1.0) - lgamma(k + 1.0) - lgamma(steps - k + 1.0);
        log_likelihood -= n as f64 * ways;
        let sizes: Vec<f64> = epoch.steps().map(|step| step.len() as f64).collect();
        if logged.steps_are_ordered {
            log_likelihood -= sizes.iter().map(|size| lgamma(size + 1.0)).sum::<f64>();
        }
        // The covariance of a step's indicator with another's is that of k draws without replacement: sizes vary by
        // n k / T (1 - k / T) T / (T - 1) around their mean, as those of balls in bins with fewer records.
        let shrink = ((1.0 - k / steps) * steps / (steps - 1.0)).max(1e-9);
        let mean = n as f64 * k / steps;
        let scaled: Vec<f64> = sizes.iter().map(|size| mean + (size - mean) / shrink.sqrt()).collect();
        smallest = smallest.min(size_tests(&scaled, n as f64 * k).dispersion());
    }
    tests.insert("batch sizes too alike or too unlike", (smallest * logged.epochs.len() as f64).min(1.0));
    of_order(incidence, &mut tests);
    Candidate {
        scheme: SCHEME,
        parameters: SchemeParameters { uses: Some(u64::from(uses)), ..SchemeParameters::default() },
        log_likelihood: Some(log_likelihood),
        p_value: tests.p_value(),
        evidence: tests.evidence(),
    }
}

/// Tests whether records come in the order of the file, or near their neighbours.
pub fn of_order(incidence: &Incidence, tests: &mut Tests) {
    let trend = incidence.trend;
    if trend.variance > 0.0 {
        tests.insert("records dealt in the order of the file", normal(trend.value / trend.variance.sqrt()));
    }
    let near = incidence.neighbours;
    tests.insert(
        "neighbours in the file that keep together",
        count(near.value, near.mean, near.mean.max(near.variance)),
    );
}

/// The number of times that every epoch uses every record; `None` if they differ.
fn uses_of_each(evidence: &SchemeEvidence<'_>) -> Option<u32> {
    let logged = evidence.logged;
    let all = evidence.incidence.counts.first().copied()?;
    let epochs = logged.epochs.len() as u32;
    let uses = all / epochs;
    if uses == 0 || uses * epochs != all || evidence.incidence.counts.iter().any(|&count| count != all) {
        return None;
    }
    let mut counts = vec![0_u32; logged.dataset_size];
    for (before, epoch) in (0..).zip(&logged.epochs) {
        if epoch.records.len() != uses as usize * logged.dataset_size {
            return None;
        }
        epoch.records.iter().for_each(|&record| counts[record as usize] += 1);
        if counts.iter().any(|&count| count != uses * (before + 1)) {
            return None;
        }
    }
    Some(uses)
}
