//! The largest epsilon that a number of observations can show: the one without any errors.
//!
//! # Why no formula?
//! The limit is what the estimator finds in that many scores without an error. So every estimator and threshold choice
//! has its own limit, and no formula is needed.

use crate::band;
use crate::estimator::Side;
use crate::occupied_bins::OccupiedBins;
use crate::threshold_choice::Trials;
use crate::{Estimator, Evidence, Guarantee, Look, ThresholdChoice, check_levels};
use misdeal_core::score_grid::BINS;
use misdeal_core::{OrInfinite, Result};

/// The search for a number of trials stops at this many per world.
const MOST_TRIALS: u64 = 1 << 49;

/// The largest epsilon that `evidence` could show at this `level`, if none of its scores were misclassified.
///
/// It is infinite if nothing bounds it.
///
/// No scores show more. Errors never raise an estimate (the law of [`ErrorEstimator`](crate::ErrorEstimator)). Without
/// errors, no function of the score separates the worlds further.
pub(crate) fn largest_of(
    evidence: &Evidence<'_>,
    choice: ThresholdChoice,
    estimator: &dyn Estimator,
    delta: f64,
    level: f64,
) -> OrInfinite {
    let [even, odd] = [Trials::Even, Trials::Odd].map(|trials| evidence.observations(trials));
    let bins = apart(even, odd);
    let flawless = Evidence::of_bins(&bins).with_fair_coins(evidence.has_fair_coins());
    estimator.largest(&flawless, choice, delta, level).into()
}

/// The largest epsilon that `trials` trials per world can show; `None` if nothing bounds it.
///
/// For a confidence sequence, the limit is that of the last look within `trials`, or 0 before the first look.
///
/// ```
/// use misdeal_statistics::{ClopperPearson, ThresholdChoice, largest_epsilon};
/// // 500 of 1,000 trials are counted: the rate of no errors among 500 is below 0.74 % with 97.5 % confidence.
/// let largest = largest_epsilon(1000, ThresholdChoice::HoldOut, &ClopperPearson, 1e-5, 0.05)?;
/// assert!((largest.unwrap() - (0.99265_f64 / 0.00735).ln()).abs() < 1e-2);
/// # Ok::<(), misdeal_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`check_levels`].
pub fn largest_epsilon(
    trials: u64,
    choice: ThresholdChoice,
    estimator: &dyn Estimator,
    delta: f64,
    significance: f64,
) -> Result<Option<f64>> {
    check_levels(delta, significance)?;
    let (trials, level) = match choice {
        ThresholdChoice::Sequential => match Look::last_within(trials) {
            Some(look) => (look.trials(), significance * look.share()),
            None => return Ok(Some(0.0)),
        },
        _ => (trials, significance),
    };
    let odd = trials / 2;
    let bins = apart([trials - odd; 2], [odd; 2]);
    Ok(largest_of(&Evidence::of_bins(&bins), choice, estimator, delta, level).finite())
}

/// The smallest number of trials per world that can show more than `epsilon`.
///
/// `None` if no feasible number can. Also `None` for audits of one training, where more canaries do not always show
/// more.
///
/// # Errors
/// The errors of [`check_levels`].
pub fn fewest_trials_above(
    epsilon: f64,
    choice: ThresholdChoice,
    estimator: &dyn Estimator,
    delta: f64,
    significance: f64,
) -> Result<Option<u64>> {
    if estimator.guarantee() == Guarantee::FairCoins {
        return Ok(None);
    }
    let shows = |trials| {
        let largest = largest_epsilon(trials, choice, estimator, delta, significance)?;
        Ok::<_, misdeal_core::Error>(largest.is_none_or(|largest| largest > epsilon))
    };
    if choice == ThresholdChoice::Sequential {
        for look in Look::all().map(Look::trials).take_while(|&trials| trials <= MOST_TRIALS) {
            if shows(look)? {
                return Ok(Some(look));
            }
        }
        return Ok(None);
    }
    // A band's levels depend on the octave (the power of two) of the number of trials. Within one octave more trials
    // show more. One trial more than an octave holds may show less.
    let mut first = 2;
    while first <= MOST_TRIALS {
        let (mut few, mut many) = (first - 1, 2 * first - 1);
        if shows(many)? {
            while many - few > 1 {
                let middle = few.midpoint(many);
                if shows(middle)? { many = middle } else { few = middle }
            }
            return Ok(Some(many));
        }
        first *= 2;
    }
    Ok(None)
}

/// Bins with no errors: all scores `Out` in the lowest bin, all scores `In` in the highest ones.
///
/// The arguments are the numbers of scores `In` and `Out`, for even and odd trials.
///
/// From the top down, a bin ends at each rank that a band may request. So the band finds its thresholds.
fn apart([even_in, even_out]: [u64; 2], [odd_in, odd_out]: [u64; 2]) -> OccupiedBins {
    let all_in = even_in + odd_in;
    let mut ranks = band::ranks(all_in + even_out + odd_out, Side::Together);
    ranks.retain(|&rank| rank < all_in);
    ranks.push(all_in);
    let mut filled = Vec::new();
    let [mut even_before, mut odd_before] = [0, 0];
    for (bin, rank) in (0..BINS).rev().zip(ranks) {
        // Half of the scores that a rank counts belong to even trials.
        let even = rank.div_ceil(2).clamp(rank.saturating_sub(odd_in), even_in);
        let odd = rank - even;
        filled.push((bin, [[even - even_before, odd - odd_before], [0; 2]]));
        [even_before, odd_before] = [even, odd];
    }
    let out = (0, [[0; 2], [even_out, odd_out]]);
    OccupiedBins::new(std::iter::once(out).chain(filled.into_iter().rev()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CountedScores, ESTIMATORS, from_scores};
    use misdeal_core::ClosedSet;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// For any scores, no estimator finds more than it would without errors.
        #[test]
        fn nothing_shows_more(
            tallies in prop::collection::vec((0..BINS, prop::array::uniform2(prop::array::uniform2(0_u64..40))), 1..12),
            delta in prop_oneof![Just(0.0), Just(1e-5), Just(0.05)],
        ) {
            let mut tallies = tallies;
            tallies.push((BINS / 2, [[4; 2]; 2]));
            tallies.sort_by_key(|&(bin, _)| bin);
            for fair_coins in [false, true] {
                let scores = CountedScores::new(tallies.clone(), fair_coins);
                for estimator in ESTIMATORS {
                    for choice in [ThresholdChoice::HoldOut, ThresholdChoice::Max, ThresholdChoice::Band] {
                        let found = scores.estimate(choice, estimator, delta, 0.05).unwrap();
                        let largest = *found.largest_epsilon;
                        prop_assert!(
                            found.empirical_epsilon <= largest * (1.0 + 1e-12),
                            "{} {choice:?}: {} above {largest}", estimator.name(), found.empirical_epsilon
                        );
                    }
                }
            }
        }
    }

    /// The even scores do not separate the worlds, so any threshold may be chosen. The odd scores separate them
    /// completely.
    #[test]
    fn nothing_shows_more_where_the_choosing_half_shows_nothing() {
        let scores_in = [10.0, 10.0, 11.0, 11.0, 12.0, 12.0];
        let scores_out = [10.0, 0.0, 11.0, 0.0, 12.0, 0.0];
        for estimator in ESTIMATORS {
            let choice = ThresholdChoice::HoldOut;
            let found = from_scores(&scores_in, &scores_out, choice, estimator, 1e-5, 0.05).unwrap();
            let largest = *found.largest_epsilon;
            assert!(found.empirical_epsilon <= largest, "{}: {found:?}", estimator.name());
        }
    }

    #[test]
    fn the_fewest_trials_are_the_first_that_can_show_it() {
        for estimator in ESTIMATORS {
            for choice in ThresholdChoice::all().iter().copied() {
                let largest = |trials| largest_epsilon(trials, choice, estimator, 1e-5, 0.05).unwrap();
                let Some(fewest) = fewest_trials_above(4.0, choice, estimator, 1e-5, 0.05).unwrap() else {
                    assert_eq!(estimator.guarantee(), Guarantee::FairCoins);
                    continue;
                };
                assert!(
                    largest(fewest).is_none_or(|largest| largest > 4.0),
                    "{} {choice:?}",
                    estimator.name()
                );
                for fewer in (2..fewest).filter(|fewer| {
                    fewer.is_power_of_two() || fewer + 1 == fewest || (fewer + 1).is_power_of_two()
                }) {
                    assert!(largest(fewer).unwrap() <= 4.0, "{} {choice:?} {fewer}", estimator.name());
                }
            }
        }
    }

    /// For n trials without errors, Clopper and Pearson bound the rate by 1 - (level / 2)^(1 / n).
    #[test]
    fn clopper_and_pearson_in_closed_form() {
        let clopper_pearson = &crate::ClopperPearson;
        for trials in [10_u64, 1000, 1_000_000] {
            let largest =
                largest_epsilon(trials, ThresholdChoice::Max, clopper_pearson, 1e-5, 0.05).unwrap().unwrap();
            let rate = -libm::expm1(libm::log(0.025) / trials as f64);
            let expected = libm::log((1.0 - rate - 1e-5) / rate).max(0.0);
            assert!((largest - expected).abs() < 1e-9, "{trials}: {largest} {expected}");
        }
    }
}
