//! The schemes, each compared with a log.

mod allocation;
mod balls_in_bins;
mod balls_in_bins_once;
mod batch_then_shuffle;
mod cyclic_poisson;
mod fixed_order;
mod once_an_epoch;
mod partial_shuffle;
mod poisson;
mod shuffle;
mod shuffle_once;
mod stream_shuffle;
mod truncated_poisson;
mod with_replacement;
mod without_replacement;

use crate::companions::{Companions, Pairs};
use crate::incidence::Incidence;
use crate::logged_epochs::LoggedEpochs;
use crate::orders::Orders;
use crate::places::Places;
use crate::verdict::RULED_OUT;
use misdeal_results::{Candidate, LoggedScheme};
use std::sync::OnceLock;

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
    companions: [OnceLock<Companions>; 2],
    places: OnceLock<Places>,
}

impl<'a> SchemeEvidence<'a> {
    /// Collects the evidence.
    pub fn new(logged: &'a LoggedEpochs, orders: Option<&'a Orders>, incidence: &'a Incidence) -> Self {
        SchemeEvidence { logged, orders, incidence, companions: Default::default(), places: OnceLock::new() }
    }

    /// Records that share batches in two epochs.
    pub fn companions_of_epochs(&self) -> &Companions {
        self.companions[0].get_or_init(|| match self.orders {
            Some(orders) => Companions::of(&orders.epochs, orders.dataset_size, Pairs::OfEpochs),
            None => Companions::default(),
        })
    }

    /// Records that share two batches of any epochs.
    pub fn companions_of_draws(&self) -> &Companions {
        self.companions[1]
            .get_or_init(|| Companions::of(&self.logged.epochs, self.logged.dataset_size, Pairs::OfSteps))
    }

    /// Records that come early, or late, in every epoch.
    pub fn places(&self) -> &Places {
        self.places.get_or_init(|| match self.orders {
            Some(orders) => Places::of(&orders.epochs, orders.dataset_size),
            None => Places::default(),
        })
    }
}

/// What a small p-value of [`Places`] shows.
pub const EARLY_OR_LATE: &str = "records that come early, or late, in every epoch";

/// Number of batch schemes that are always compared.
const SCHEMES: usize = 9;

/// Whether a scheme draws every batch anew from all records.
pub fn draws_anew(scheme: LoggedScheme) -> bool {
    use LoggedScheme::{
        Allocation, CyclicPoisson, Poisson, TruncatedPoisson, WithReplacement, WithoutReplacement,
    };
    matches!(
        scheme,
        Poisson | WithoutReplacement | TruncatedPoisson | CyclicPoisson | Allocation | WithReplacement
    )
}

/// All schemes, most likely first. Among equally likely schemes, the simpler one comes first.
pub fn candidates(evidence: &SchemeEvidence<'_>) -> Vec<Candidate> {
    let schemes: [fn(&SchemeEvidence<'_>) -> Candidate; SCHEMES + 5] = [
        fixed_order::candidate,
        shuffle::candidate,
        shuffle_once::candidate,
        batch_then_shuffle::candidate,
        partial_shuffle::candidate,
        stream_shuffle::candidate,
        poisson::candidate,
        without_replacement::candidate,
        balls_in_bins::candidate,
        balls_in_bins_once::candidate,
        truncated_poisson::candidate,
        cyclic_poisson::candidate,
        allocation::candidate,
        with_replacement::candidate,
    ];
    let mut candidates: Vec<Candidate> = schemes.iter().map(|scheme| scheme(evidence)).collect();
    // Further laws are listed only where the log does not rule them out.
    let further = candidates.split_off(SCHEMES);
    candidates.extend(further.into_iter().filter(|one| one.p_value >= RULED_OUT));
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
