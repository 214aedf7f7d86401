//! Fixed order: file order, or another order that follows a short rule, without randomness.

use super::SchemeEvidence;
use super::once_an_epoch::once;
use libm::log;
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};
use std::collections::BTreeSet;

const SCHEME: LoggedScheme = LoggedScheme::FixedOrder;

/// Largest number of different strides in a rule; workers or ranks that take turns need three.
const MOST_STRIDES: usize = 8;

/// The likelihood of a log under this scheme.
///
/// File order has probability one. Another order is accepted if it is the same in all epochs and uses at most [`MOST_STRIDES`]
/// different strides from record to record. Its likelihood is reduced by the cost of describing each stride and its place.
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let orders = match once(evidence) {
        Ok(orders) => orders,
        Err(why) => return Candidate::impossible(SCHEME, why),
    };
    let fits = |log_likelihood: f64, evidence: String| Candidate {
        scheme: SCHEME,
        parameters: SchemeParameters::default(),
        log_likelihood: Some(log_likelihood - 2.0 * orders.repeated as f64 * log(orders.dataset_size as f64)),
        p_value: 1.0,
        evidence,
    };
    if orders.epochs.iter().all(|epoch| epoch.records.is_sorted()) {
        return fits(0.0, "every epoch is in file order".into());
    }
    let first = &orders.epochs[0].records;
    let strides: BTreeSet<i64> = first
        .windows(2)
        .map(|pair| i64::from(pair[1]) - i64::from(pair[0]))
        .take(4 * first.len())
        .fold(BTreeSet::new(), |mut strides, stride| {
            if strides.len() <= MOST_STRIDES {
                strides.insert(stride);
            }
            strides
        });
    if strides.len() <= MOST_STRIDES && (orders.reused || orders.epochs.len() == 1) {
        let cost = 2.0 * strides.len() as f64 * log(orders.dataset_size as f64);
        return fits(
            -cost,
            format!("not file order, but {} strides describe it, the same in all epochs", strides.len()),
        );
    }
    Candidate::impossible(SCHEME, "the records are not in file order")
}
