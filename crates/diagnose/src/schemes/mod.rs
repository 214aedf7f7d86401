//! The nine schemes, each compared with a log.

mod balls_in_bins;
mod batch_then_shuffle;
mod fixed_order;
mod once_an_epoch;
mod partial_shuffle;
mod poisson;
mod shuffle;
mod shuffle_once;
mod stream_shuffle;
mod without_replacement;

use crate::incidence::Incidence;
use crate::logged_epochs::LoggedEpochs;
use crate::orders::Orders;
use misdeal_results::{Candidate, LoggedScheme};

/// The lead, in nats, at which a scheme counts as certain: odds of 22,000 to 1.
///
/// A large buffer whose possible orders lead a full shuffle by less is reported as a full shuffle.
pub const CERTAIN_LEAD: f64 = 10.0;

/// The evidence that a log gives.
pub struct SchemeEvidence<'a> {
    /// The log's epochs and steps.
    pub logged: &'a LoggedEpochs,
    /// The order of the records, if they are used once an epoch.
    pub orders: Option<&'a Orders>,
    /// Which records are in which steps.
    pub incidence: &'a Incidence,
}

/// Whether a scheme draws every batch anew from all records.
pub fn draws_anew(scheme: LoggedScheme) -> bool {
    matches!(scheme, LoggedScheme::Poisson | LoggedScheme::WithoutReplacement)
}

/// All schemes, most likely first. Among equally likely schemes, the simpler one comes first.
pub fn candidates(evidence: &SchemeEvidence<'_>) -> Vec<Candidate> {
    let schemes: [fn(&SchemeEvidence<'_>) -> Candidate; 9] = [
        fixed_order::candidate,
        shuffle::candidate,
        shuffle_once::candidate,
        batch_then_shuffle::candidate,
        partial_shuffle::candidate,
        stream_shuffle::candidate,
        poisson::candidate,
        without_replacement::candidate,
        balls_in_bins::candidate,
    ];
    let mut candidates: Vec<Candidate> = schemes.iter().map(|scheme| scheme(evidence)).collect();
    // Laws of sets describe the whole data set. The other laws describe only the records that are used.
    let ways = evidence.orders.map_or(0.0, Orders::log_ways_to_choose);
    for one in
        candidates.iter_mut().filter(|one| !draws_anew(one.scheme) && one.scheme != LoggedScheme::BallsInBins)
    {
        one.log_likelihood = one.log_likelihood.map(|value| value - ways);
    }
    // A stable sort keeps the order of equally likely schemes.
    candidates.sort_by(|one, other| {
        let value = |candidate: &Candidate| candidate.log_likelihood.unwrap_or(f64::NEG_INFINITY);
        value(other).total_cmp(&value(one))
    });
    candidates
}
