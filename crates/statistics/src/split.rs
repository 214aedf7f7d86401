//! An epsilon from split scores: one part chooses the threshold, the other is counted.

use crate::binomial::upper_bound;
use crate::search::Objective;
use crate::threshold_choice::Trials;
use crate::{ErrorCounts, ErrorEstimator, Guarantee, check_levels, finite};
use libm::log;
use misdeal_core::Result;

/// Bounds epsilon by the scores above the threshold alone: ln((1 - FNR+ - delta) / FPR+).
///
/// The bounds on both rates are Clopper and Pearson's, at half the significance each. It errs downwards, for independent runs.
#[derive(Debug, Clone, Copy)]
pub struct OneSided;

impl ErrorEstimator for OneSided {
    fn name(&self) -> &'static str {
        "one-sided"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::AnyMechanism
    }

    fn epsilon(&self, counts: &ErrorCounts, delta: f64, significance: f64) -> f64 {
        let false_rate =
            upper_bound(counts.false_positives, counts.observations_out, 0.5 * significance).value;
        let missed = upper_bound(counts.false_negatives, counts.observations_in, 0.5 * significance);
        log(((missed.complement - delta) / false_rate).max(1.0))
    }
}

/// The epsilon that the second parts of the scores `In` and `Out` show, at the best threshold for the first parts.
///
/// # Errors
/// A level out of range, or a score that is not finite.
pub fn epsilon_of_split(
    first: [&[f64]; 2],
    second: [&[f64]; 2],
    estimator: &dyn ErrorEstimator,
    delta: f64,
    significance: f64,
) -> Result<f64> {
    check_levels(delta, significance)?;
    let evidence = finite(first[0], first[1])?;
    let [observations_in, observations_out] = evidence.observations(Trials::All);
    let estimating = estimator.chooser().unwrap_or(estimator);
    let objective =
        Objective { estimator: estimating, observations_in, observations_out, delta, significance };
    let threshold = if observations_in.min(observations_out) == 0 {
        f64::INFINITY
    } else {
        evidence.best_threshold(Trials::All, &objective)
    };
    let reaching = second.map(|scores| scores.iter().filter(|&&score| score >= threshold).count() as u64);
    let [observations_in, observations_out] = second.map(|scores| scores.len() as u64);
    let counts = ErrorCounts {
        false_positives: reaching[1],
        false_negatives: observations_in - reaching[0],
        observations_in,
        observations_out,
    };
    Ok(estimator.epsilon(&counts, delta, significance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClopperPearson;

    /// The slow way: every score as a threshold.
    #[test]
    fn the_best_threshold_of_the_first_part_is_counted_on_the_second() {
        let scores = |shift: f64, step: u32| -> Vec<f64> {
            (0..60).map(|i| f64::from(i * step % 61) + shift).collect()
        };
        let (first, second) = ([scores(25.0, 7), scores(0.0, 11)], [scores(25.3, 13), scores(0.3, 17)]);
        for estimator in [&OneSided as &dyn ErrorEstimator, &ClopperPearson] {
            let counts = |parts: &[Vec<f64>; 2], threshold: f64| ErrorCounts {
                false_positives: parts[1].iter().filter(|&&score| score >= threshold).count() as u64,
                false_negatives: parts[0].iter().filter(|&&score| score < threshold).count() as u64,
                observations_in: 60,
                observations_out: 60,
            };
            let value = |threshold: f64| estimator.epsilon(&counts(&first, threshold), 1e-5, 0.05);
            let best = first.iter().flatten().map(|&threshold| value(threshold)).fold(0.0, f64::max);
            let allowed = first.iter().flatten().filter(|&&threshold| value(threshold) >= best - 1e-12);
            let found = epsilon_of_split(
                first.each_ref().map(Vec::as_slice),
                second.each_ref().map(Vec::as_slice),
                estimator,
                1e-5,
                0.05,
            )
            .unwrap();
            let counted: Vec<f64> = allowed
                .map(|&threshold| estimator.epsilon(&counts(&second, threshold), 1e-5, 0.05))
                .collect();
            assert!(
                found > 0.0 && counted.iter().any(|one| (one - found).abs() < 1e-12),
                "{found} {counted:?}"
            );
        }
        assert_eq!(epsilon_of_split([&[], &[1.0]], [&[2.0], &[1.0]], &OneSided, 0.0, 0.05).unwrap(), 0.0);
    }
}
