//! An estimate from the observed rates, without confidence.

use crate::binomial::Proportion;
use crate::estimator::epsilon_of_rates;
use crate::{ErrorCounts, ErrorEstimator, Guarantee};

/// An epsilon from the observed rates, which replace the true ones.
///
/// Use it for plots only. It is not a bound in either direction.
///
/// epsilon = max{ ln((1 - FPR - delta)/FNR), ln((1 - FNR - delta)/FPR), 0 }. It is infinite if an error never occurred
/// and the numerator over it is positive. It is at least as large as any confidence bound at the same threshold.
#[derive(Debug, Clone, Copy)]
pub struct Raw;

impl ErrorEstimator for Raw {
    fn name(&self) -> &'static str {
        "raw"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Nothing
    }

    fn epsilon(&self, counts: &ErrorCounts, delta: f64, _significance: f64) -> f64 {
        let rate = |errors: u64, observations: u64| {
            let all = observations.max(1) as f64;
            Proportion {
                value: errors as f64 / all,
                complement: observations.saturating_sub(errors) as f64 / all,
            }
        };
        let false_positive_rate = rate(counts.false_positives, counts.observations_out);
        let false_negative_rate = rate(counts.false_negatives, counts.observations_in);
        epsilon_of_rates(false_positive_rate, false_negative_rate, delta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClopperPearson, ERROR_ESTIMATORS};
    use proptest::{prelude::*, test_runner::RngSeed};

    #[test]
    fn infinite_only_where_an_error_never_occurred() {
        let epsilon = |false_positives, false_negatives| {
            let counts =
                ErrorCounts { false_positives, false_negatives, observations_in: 10, observations_out: 20 };
            Raw.epsilon(&counts, 0.0, 0.05)
        };
        assert!(epsilon(0, 9).is_infinite() && epsilon(19, 0).is_infinite());
        assert!(epsilon(0, 10) <= 0.0 && epsilon(20, 0) <= 0.0);
        assert!((epsilon(2, 6) - libm::log(4.0)).abs() < 1e-15);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 2000,
            rng_seed: RngSeed::Fixed(24),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Checks the law of [`ErrorEstimator`], and that a confidence bound is at most the raw estimate.
        #[test]
        fn more_errors_never_show_more(
            observations in 1_u64..10_000_000, [fpr, fnr] in [0.0..1.0_f64, 0.0..1.0_f64],
            power in 0_i32..6, more in 0_u64..1000, delta in 0.0..0.1_f64,
        ) {
            let errors = |rate: f64| (rate.powi(power) * observations as f64) as u64;
            let counts = ErrorCounts {
                false_positives: errors(fpr),
                false_negatives: errors(fnr),
                observations_in: observations,
                observations_out: observations,
            };
            let worse = [
                ErrorCounts { false_positives: (counts.false_positives + more).min(observations), ..counts },
                ErrorCounts { false_negatives: (counts.false_negatives + more).min(observations), ..counts },
            ];
            for estimator in ERROR_ESTIMATORS {
                // These estimators are slow (an integral per step of root finding, or a recursion with one step per
                // right guess), so they get fewer cases.
                if ["joint-bayesian", "one-run-fdp"].contains(&estimator.name()) && (observations % 64 > 0 || observations > 2_000_000) {
                    continue;
                }
                for worse in &worse {
                    let (less, more) = (estimator.epsilon(worse, delta, 0.05), estimator.epsilon(&counts, delta, 0.05));
                    prop_assert!(less <= more + 1e-8, "{}: {less} {more}", estimator.name());
                }
            }
            prop_assert!(ClopperPearson.epsilon(&counts, delta, 0.05) <= Raw.epsilon(&counts, delta, 0.05));
        }
    }
}
