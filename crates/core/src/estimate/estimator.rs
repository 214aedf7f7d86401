//! From the errors at one threshold to epsilon.

use super::{ClopperPearson, ErrorCounts, Raw};
use crate::binomial::Proportion;
use crate::{Error, Result};

/// A way to turn error counts into an epsilon.
///
/// # Law
/// [`epsilon`](Estimator::epsilon) never grows when `false_positives` or `false_negatives` grow and the rest stays. The
/// search for the best threshold relies on it.
pub trait Estimator: Sync {
    /// The name on the command line and in JSON.
    fn name(&self) -> &'static str;

    /// Whether epsilon is a lower confidence bound at the given significance, for a threshold that does not depend on
    /// the scores that are counted.
    fn is_confidence_bound(&self) -> bool;

    /// The epsilon that the counts show at `delta`; at least 0.
    fn epsilon(&self, counts: &ErrorCounts, delta: f64, significance: f64) -> f64;
}

/// All estimators.
pub static ESTIMATORS: [&dyn Estimator; 2] = [&ClopperPearson, &Raw];

/// The estimator called `name`.
///
/// # Errors
/// An unknown name.
pub fn estimator(name: &str) -> Result<&'static dyn Estimator> {
    ESTIMATORS.into_iter().find(|estimator| estimator.name() == name).ok_or_else(|| {
        let names: Vec<_> = ESTIMATORS.iter().map(|estimator| estimator.name()).collect();
        Error::bad_value("estimator", name, format!("one of {}", names.join(", ")), "check the spelling")
    })
}

/// max{ ln((1 - FPR - delta)/FNR), ln((1 - FNR - delta)/FPR), 0 }.
///
/// Decreases in both rates. A numerator that is not positive shows nothing; a positive one over 0 is infinite.
pub(super) fn epsilon_of_rates(
    false_positive_rate: Proportion,
    false_negative_rate: Proportion,
    delta: f64,
) -> f64 {
    let ratio = |one: Proportion, other: Proportion| {
        let numerator = one.complement - delta;
        if numerator > 0.0 { numerator / other.value } else { 0.0 }
    };
    let ratio =
        ratio(false_positive_rate, false_negative_rate).max(ratio(false_negative_rate, false_positive_rate));
    if ratio > 1.0 { libm::log(ratio) } else { 0.0 }
}
