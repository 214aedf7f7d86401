//! Without replacement: every batch is a fresh uniform subset of fixed size.

use super::SchemeEvidence;
use super::poisson::random_subsets;
use libm::lgamma;
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::WithoutReplacement;

/// The likelihood of a log under this scheme: 1 / C(n, B) for each batch.
///
/// If steps are ordered, every order of a batch is equally likely.
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let incidence = evidence.incidence;
    if let Some(record) = incidence.twice_in_a_step {
        let why = format!("record {record} is twice in one batch: records are drawn with replacement");
        return Candidate::impossible(SCHEME, why);
    }
    let size = incidence.sizes[0];
    if let Some(other) = incidence.sizes.iter().find(|&&other| other != size) {
        return Candidate::impossible(
            SCHEME,
            format!("batches have {size} and {other} records, but all must have one size"),
        );
    }
    let n = incidence.dataset_size;
    let inner = if evidence.logged.steps_are_ordered { 0.0 } else { lgamma(size + 1.0) };
    let of_batch = lgamma(n - size + 1.0) + inner - lgamma(n + 1.0);
    let tests = random_subsets(incidence, evidence.companions_of_draws(), size / n);
    let parameters = SchemeParameters { sampling_probability: Some(size / n), ..SchemeParameters::default() };
    Candidate {
        scheme: SCHEME,
        parameters,
        log_likelihood: Some(of_batch * incidence.sizes.len() as f64),
        p_value: if size < n { tests.p_value() } else { 1.0 },
        evidence: tests.evidence(),
    }
}
