//! Poisson sampling: every record joins every batch independently.

use super::SchemeEvidence;
use crate::batch_sizes::fit;
use crate::companions::Companions;
use crate::incidence::Incidence;
use crate::p_values::{Tests, count, dispersion, normal};
use libm::{lgamma, log, log1p};
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::Poisson;

/// What a small p-value of [`Companions`] shows.
pub const MEET_AGAIN: &str = "records that share batches again and again, or never again";

/// The likelihood of a log under this scheme.
///
/// A batch of k records has probability q^k (1 - q)^(n - k). q takes its most likely value, the mean share of the records in a
/// batch. If steps are ordered, every order of a batch is equally likely.
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let incidence = evidence.incidence;
    if let Some(record) = incidence.twice_in_a_step {
        let why = format!("record {record} is twice in one batch: records are drawn with replacement");
        return Candidate::impossible(SCHEME, why);
    }
    let n = incidence.dataset_size;
    let steps = incidence.sizes.len() as f64;
    let q = incidence.entries() / (n * steps);
    let of_size = |&size: &f64| {
        let inner = if evidence.logged.steps_are_ordered { lgamma(size + 1.0) } else { 0.0 };
        let out = if q < 1.0 { (n - size) * log1p(-q) } else { 0.0 };
        size * log(q) + out - inner
    };
    let mut tests = random_subsets(incidence, evidence.companions_of_draws(), q);
    let variance = n * q * (1.0 - q);
    let squares: f64 = incidence.sizes.iter().map(|size| (size - n * q) * (size - n * q) / variance).sum();
    let excess = (1.0 - 6.0 * q * (1.0 - q)) / variance;
    tests.insert(
        "batch sizes too alike or too unlike",
        dispersion(squares, steps - 1.0, (steps - 1.0) * (2.0 + excess)),
    );
    tests.insert("batch sizes that are not binomial", fit(&incidence.sizes, n, q, None));
    let parameters = SchemeParameters { sampling_probability: Some(q), ..SchemeParameters::default() };
    Candidate {
        scheme: SCHEME,
        parameters,
        log_likelihood: Some(incidence.sizes.iter().map(of_size).sum()),
        p_value: if q < 1.0 { tests.p_value() } else { 1.0 },
        evidence: tests.evidence(),
    }
}

/// Tests whether batches are independent random subsets, each with the share `q` of the records on average.
pub fn random_subsets(incidence: &Incidence, companions: &Companions, q: f64) -> Tests {
    let n = incidence.dataset_size;
    let steps = incidence.sizes.len() as f64;
    let mut tests = Tests::default();
    let variance = steps * q * (1.0 - q);
    let mean = incidence.entries() / n;
    let squares: f64 = incidence
        .counts
        .iter()
        .map(|&count| (f64::from(count) - mean) * (f64::from(count) - mean) / variance)
        .sum();
    let excess = (1.0 - 6.0 * q * (1.0 - q)) / variance;
    tests.insert(
        "that some records are dealt too often, or all too equally often",
        dispersion(squares, n - 1.0, (n - 1.0) * (2.0 + excess.max(-1.0))),
    );
    let trend = incidence.trend;
    let deviation = (trend.variance * (1.0 - q)).sqrt();
    tests.insert(
        "records dealt in the order of the file",
        if deviation > 0.0 { normal(trend.value / deviation) } else { 1.0 },
    );
    let overlap = incidence.overlap;
    tests.insert(
        "batches that depend on the one before",
        count(overlap.value, overlap.mean, overlap.variance),
    );
    let near = incidence.neighbours;
    tests.insert("neighbours in the file that keep together", count(near.value, near.mean, near.variance));
    tests.insert(MEET_AGAIN, companions.p_value());
    tests
}
