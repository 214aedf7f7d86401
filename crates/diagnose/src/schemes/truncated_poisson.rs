//! Truncated Poisson sampling: batches above a largest size lose random records.

use super::poisson::random_subsets;
use super::{CERTAIN_LEAD, SchemeEvidence};
use crate::batch_sizes::{fit, log_binomial_tail};
use libm::{lgamma, log, log1p};
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::TruncatedPoisson;

/// Fewest batches of the largest size, and fewest smaller ones, that show a cap.
const FEWEST: usize = 3;

/// The likelihood of a log under this scheme.
///
/// Smaller batches have the probability of Poisson sampling. A batch of the largest size c has the probability of at least c records,
/// divided by the number of subsets. q takes its most likely value. A cap that no batch or few batches reach is Poisson sampling, so
/// the scheme must lead it by [`CERTAIN_LEAD`].
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let incidence = evidence.incidence;
    if incidence.twice_in_a_step.is_some() {
        return Candidate::impossible(SCHEME, "some record is twice in one batch");
    }
    let (n, sizes) = (incidence.dataset_size, &incidence.sizes);
    let cap = sizes.iter().copied().fold(0.0, f64::max);
    let smaller: Vec<f64> = sizes.iter().copied().filter(|&size| size < cap).collect();
    let full = sizes.len() - smaller.len();
    if full < FEWEST || smaller.len() < FEWEST || cap >= n {
        return Candidate::impossible(SCHEME, "batch sizes show no cap");
    }
    let entries: f64 = smaller.iter().sum();
    let chances = smaller.len() as f64 * n;
    let log_subsets = lgamma(n + 1.0) - lgamma(cap + 1.0) - lgamma(n - cap + 1.0);
    let at = |q: f64| {
        entries * log(q)
            + (chances - entries) * log1p(-q)
            + full as f64 * (log_binomial_tail(n, q, cap) - log_subsets)
    };
    // The most likely q lies between the share of all entries and a few deviations above the cap.
    let (mut low, mut high) =
        (incidence.entries() / (n * sizes.len() as f64), (2.0 * cap / n).min(0.5 + 0.5 * cap / n));
    low = low.max(1e-12);
    for _ in 0..80 {
        let [one, two] = [low + (high - low) * 0.382, low + (high - low) * 0.618];
        if at(one) < at(two) { low = one } else { high = two }
    }
    let q = 0.5 * (low + high);
    let inner: f64 = if evidence.logged.steps_are_ordered {
        sizes.iter().map(|&size| lgamma(size + 1.0)).sum()
    } else {
        0.0
    };
    let share = incidence.entries() / (n * sizes.len() as f64);
    let without_a_cap =
        incidence.entries() * log(share) + (n * sizes.len() as f64 - incidence.entries()) * log1p(-share);
    if at(q) < without_a_cap + CERTAIN_LEAD {
        return Candidate::impossible(SCHEME, "batch sizes show no cap");
    }
    let mut tests = random_subsets(incidence, evidence.companions_of_draws(), share);
    tests.insert("batch sizes that no cap of a binomial law gives", fit(sizes, n, q, Some(cap)));
    Candidate {
        scheme: SCHEME,
        parameters: SchemeParameters {
            sampling_probability: Some(q),
            largest_batch: Some(cap as u64),
            ..SchemeParameters::default()
        },
        log_likelihood: Some(at(q) - inner),
        p_value: tests.p_value(),
        evidence: tests.evidence(),
    }
}
