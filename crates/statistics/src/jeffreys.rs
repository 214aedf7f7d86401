//! An estimate from Jeffreys' intervals for both error rates.

use crate::beta::Beta;
use crate::binomial::Proportion;
use crate::estimator::epsilon_of_rates;
use crate::{ErrorCounts, ErrorEstimator, Guarantee};

/// An epsilon from the upper ends of Jeffreys' intervals for both error rates.
///
/// Each interval is at `significance` / 2.
///
/// # Formula
/// The upper end is the (1 - `significance` / 2) quantile of Beta(k + 1/2, n - k + 1/2), or 1 if k = n. It replaces the
/// Clopper-Pearson bound (Brown, Cai and DasGupta, "Interval estimation for a binomial proportion", 2001).
///
/// # Formal guarantees
/// - It is the posterior quantile under Jeffreys' prior. Its coverage is right on average over the rates, but
///   oscillates. At some rates, mainly small ones, it errs upwards more often than `significance` says. It is tighter
///   than Clopper-Pearson and not valid.
#[derive(Debug, Clone, Copy)]
pub struct Jeffreys;

impl ErrorEstimator for Jeffreys {
    fn name(&self) -> &'static str {
        "jeffreys"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Approximate
    }

    fn epsilon(&self, counts: &ErrorCounts, delta: f64, significance: f64) -> f64 {
        let upper = |errors: u64, of: u64| {
            if errors >= of {
                return Proportion { value: 1.0, complement: 0.0 };
            }
            Beta::new(errors as f64 + 0.5, (of - errors) as f64 + 0.5).upper_quantile(significance / 2.0)
        };
        let false_positive_rate = upper(counts.false_positives, counts.observations_out);
        let false_negative_rate = upper(counts.false_negatives, counts.observations_in);
        epsilon_of_rates(false_positive_rate, false_negative_rate, delta)
    }
}
