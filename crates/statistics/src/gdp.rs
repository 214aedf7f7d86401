//! An estimate that fits a Gaussian trade-off curve to the error rates.

use crate::binomial::upper_bound;
use crate::{ErrorCounts, ErrorEstimator, Guarantee};
use libm::exp;
use misdeal_core::normal::{cdf, log_cdf, lower_quantile};

/// A lower confidence bound on mu, converted to the epsilon of mu-GDP at delta.
///
/// # Formula
/// mu = Phi^-1(1 - FPR+) - Phi^-1(FNR+), with Clopper-Pearson bounds at `significance` / 2 each. Epsilon solves delta =
/// Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) (Dong, Roth and Su, "Gaussian differential privacy",
/// 2022, corollary 2.13; for auditing Nasr et al., "Tight auditing of differentially private machine learning", 2023).
///
/// # Assumption
/// The mechanism's trade-off curve is that of N(0, 1) against N(mu, 1). Then every threshold shows the same mu. A
/// threshold in the middle of the scores, where there are many errors, also determines the tail that delta describes.
/// So the bound is far tighter than one without an assumption.
///
/// # Formal guarantees
/// - For such mechanisms it is a lower confidence bound, which errs downwards. For others it may err upwards without
///   limit, so it is not marked valid. At delta = 0 it is infinite as soon as mu is above 0.
#[derive(Debug, Clone, Copy)]
pub struct Gdp;

impl ErrorEstimator for Gdp {
    fn name(&self) -> &'static str {
        "gdp"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::GaussianMechanism
    }

    fn epsilon(&self, counts: &ErrorCounts, delta: f64, significance: f64) -> f64 {
        let false_positive_rate =
            upper_bound(counts.false_positives, counts.observations_out, significance / 2.0);
        let false_negative_rate =
            upper_bound(counts.false_negatives, counts.observations_in, significance / 2.0);
        let score = |value: f64, complement: f64| {
            if value <= 0.5 { lower_quantile(value) } else { -lower_quantile(complement) }
        };
        if false_positive_rate.complement <= 0.0 || false_negative_rate.complement <= 0.0 {
            return 0.0;
        }
        let mu = -score(false_positive_rate.value, false_positive_rate.complement)
            - score(false_negative_rate.value, false_negative_rate.complement);
        epsilon_of_gdp(mu, delta)
    }
}

/// The delta of mu-GDP at `epsilon`; it decreases with epsilon.
pub(crate) fn delta_of_gdp(mu: f64, epsilon: f64) -> f64 {
    cdf(0.5 * mu - epsilon / mu) - exp(epsilon + log_cdf(-0.5 * mu - epsilon / mu))
}

/// The smallest epsilon at which mu-GDP has `delta`, or 0 if `mu` is not positive.
///
/// It is too small by at most 1e-12 relative.
pub(crate) fn epsilon_of_gdp(mu: f64, delta: f64) -> f64 {
    if mu.is_nan() || mu <= 0.0 || delta_of_gdp(mu, 0.0) <= delta {
        return 0.0;
    }
    if delta <= 0.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, mu * (mu + 1.0));
    while delta_of_gdp(mu, high) > delta {
        (low, high) = (high, 2.0 * high);
    }
    while high - low > 1e-12 * high {
        let middle = low.midpoint(high);
        if delta_of_gdp(mu, middle) > delta {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The mu at which mu-GDP has `delta` at `epsilon`; above 0 if `delta` is.
pub(crate) fn mu_of_gdp(epsilon: f64, delta: f64) -> f64 {
    let (mut low, mut high) = (1e-12, 1.0);
    while delta_of_gdp(high, epsilon) < delta && high < 1e6 {
        (low, high) = (high, 2.0 * high);
    }
    while high - low > 1e-14 * high {
        let middle = low.midpoint(high);
        if delta_of_gdp(middle, epsilon) < delta {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// N(1, 1) against N(0, 1) has epsilon 4.377... at delta 1e-5. The curve inverts in both directions.
    #[test]
    fn the_curve_of_the_gaussian_mechanism() {
        assert!((epsilon_of_gdp(1.0, 1e-5) - 4.3772).abs() < 1e-4);
        for (mu, delta) in [(0.05, 1e-5), (0.3, 0.01), (1.0, 1e-8), (3.0, 1e-5), (20.0, 0.1)] {
            let epsilon = epsilon_of_gdp(mu, delta);
            assert!((mu_of_gdp(epsilon, delta) / mu - 1.0).abs() < 1e-9, "{mu} {delta}");
        }
        assert_eq!(epsilon_of_gdp(0.0, 1e-5), 0.0);
        assert_eq!(epsilon_of_gdp(1e-6, 1e-5), 0.0);
        assert!(epsilon_of_gdp(0.5, 0.0).is_infinite());
    }
}
