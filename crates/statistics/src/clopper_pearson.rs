//! The paper's bound: exact binomial confidence bounds on both error rates.

use crate::binomial::upper_bound;
use crate::estimator::{Side, epsilon_of_rates};
use crate::rank_test::RankTest;
use crate::{ErrorCounts, ErrorEstimator, Guarantee};

/// An epsilon from Clopper-Pearson bounds on both error rates, jointly at level `significance`.
///
/// # Formula
/// FPR+ and FNR+ are the upper bounds of [`binomial::upper_bound`](crate::binomial::upper_bound) at `significance` / 2
/// each (the paper's Algorithm 1). Then
///
/// epsilon = max{ ln((1 - FPR+ - delta)/FNR+), ln((1 - FNR+ - delta)/FPR+), 0 }
///
/// If the threshold's rank was fixed in advance (the choices `band` and `sequential`), the exact test of `rank_test`
/// replaces the two bounds. It does not split the significance between them.
///
/// # Formal guarantees
/// - If the threshold was chosen without the counted scores, epsilon lies above the mechanism's epsilon with
///   probability at most `significance`. It errs downwards.
/// - Nothing is rounded outwards. The bounds are within a few units in the last place, in either direction.
#[derive(Debug, Clone, Copy)]
pub struct ClopperPearson;

impl ErrorEstimator for ClopperPearson {
    fn name(&self) -> &'static str {
        "clopper-pearson"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::AnyMechanism
    }

    fn epsilon(&self, counts: &ErrorCounts, delta: f64, significance: f64) -> f64 {
        let false_positive_rate =
            upper_bound(counts.false_positives, counts.observations_out, significance / 2.0);
        let false_negative_rate =
            upper_bound(counts.false_negatives, counts.observations_in, significance / 2.0);
        epsilon_of_rates(false_positive_rate, false_negative_rate, delta)
    }

    fn epsilon_at_rank(
        &self,
        counts: &ErrorCounts,
        side: Side,
        rank: u64,
        delta: f64,
        significance: f64,
        floor: f64,
    ) -> f64 {
        rank_test(counts, side, rank).epsilon(delta, significance, floor)
    }

    fn limit_at_rank(
        &self,
        counts: &ErrorCounts,
        side: Side,
        rank: u64,
        delta: f64,
        significance: f64,
    ) -> f64 {
        rank_test(counts, side, rank).limit(delta, significance)
    }
}

/// The exact test at a threshold with fewer than `rank` false positives (or false negatives).
fn rank_test(counts: &ErrorCounts, side: Side, rank: u64) -> RankTest {
    let ErrorCounts { false_positives, false_negatives, observations_in, observations_out } = *counts;
    let upper = RankTest {
        reaching: observations_in - false_negatives,
        observations: observations_in,
        rank,
        reference: observations_out,
    };
    match side {
        Side::Upper | Side::Together => upper,
        Side::Lower => RankTest {
            reaching: observations_out - false_positives,
            observations: observations_out,
            rank,
            reference: observations_in,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(false_positives: u64, false_negatives: u64, observations: u64) -> ErrorCounts {
        ErrorCounts {
            false_positives,
            false_negatives,
            observations_in: observations,
            observations_out: observations,
        }
    }

    /// With no errors in n trials, both bounds are 1 - (significance/2)^(1/n).
    #[test]
    fn a_perfect_attack_is_bounded_by_the_number_of_trials() {
        let bound = 1.0 - libm::pow(0.025, 1.0 / 1000.0);
        let exact = libm::log((1.0 - bound - 1e-5) / bound);
        assert!((ClopperPearson.epsilon(&counts(0, 0, 1000), 1e-5, 0.05) / exact - 1.0).abs() < 1e-12);
    }

    #[test]
    fn guessing_shows_nothing() {
        for errors in [0, 1, 50, 99, 100] {
            let epsilon = ClopperPearson.epsilon(&counts(errors, 100 - errors, 100), 0.0, 0.05);
            assert!(epsilon <= 0.0, "{errors}: {epsilon}");
        }
    }

    #[test]
    fn a_rare_event_in_one_world() {
        let epsilon = ClopperPearson.epsilon(&counts(12, 2_499_000, 2_500_000), 1e-5, 0.05);
        let exact = libm::log(
            (upper_bound(2_499_000, 2_500_000, 0.025).complement - 1e-5)
                / upper_bound(12, 2_500_000, 0.025).value,
        );
        assert!((epsilon - exact).abs() < 1e-14 && (3.7..3.9).contains(&epsilon), "{epsilon}");
    }
}
