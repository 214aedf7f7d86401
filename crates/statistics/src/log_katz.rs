//! An interval for the logarithm of a ratio of two proportions, in a normal approximation.

use crate::{ErrorCounts, ErrorEstimator, Guarantee};
use libm::{log, sqrt};
use misdeal_core::normal;

/// Katz's interval for the logarithm of a ratio.
///
/// # Formula
/// Let p = (TP + 1/2)/(n + 1) and q = (FP + 1/2)/(n' + 1). The estimate is the lower end of a normal interval for
/// ln((p - delta)/q) at `significance` / 2. Its variance by the delta method is
///
/// p (1-p) / (n (p - delta)^2) + (1-q) / (n' q),
///
/// The same is computed for the complements (1 - FPR and FNR), and the larger value is used. (Katz, Baptista, Azen and
/// Pike, 1978; for auditing Lu et al., "A general framework for auditing differentially private machine learning",
/// 2022.)
///
/// # Formal guarantees
/// - Approximate: the level is right in the limit of many errors of both kinds. With few errors it may err in either
///   direction.
/// - Below about z^2/4 errors the formula would increase with errors. So the result is the smaller of the values with
///   these errors and with none. This errs downwards and keeps the law of [`ErrorEstimator`].
#[derive(Debug, Clone, Copy)]
pub struct LogKatz;

impl ErrorEstimator for LogKatz {
    fn name(&self) -> &'static str {
        "log-katz"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Approximate
    }

    fn epsilon(&self, counts: &ErrorCounts, delta: f64, significance: f64) -> f64 {
        let z = -normal::lower_quantile(significance / 2.0);
        let ErrorCounts { false_positives, false_negatives, observations_in, observations_out } = *counts;
        let lower = |hits: u64, of_hits: u64, errors: u64, of_errors: u64| {
            let p = (hits as f64 + 0.5) / (of_hits as f64 + 1.0);
            if p <= delta {
                return 0.0;
            }
            let hits_variance = p * (1.0 - p) / (of_hits as f64 * (p - delta) * (p - delta));
            let at = |errors: u64| {
                let q = (errors as f64 + 0.5) / (of_errors as f64 + 1.0);
                log((p - delta) / q) - z * sqrt(hits_variance + (1.0 - q) / (of_errors as f64 * q))
            };
            at(errors).min(at(0))
        };
        let one =
            lower(observations_in - false_negatives, observations_in, false_positives, observations_out);
        let other =
            lower(observations_out - false_positives, observations_out, false_negatives, observations_in);
        one.max(other).max(0.0)
    }
}
