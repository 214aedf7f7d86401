//! Tests many thresholds at once on all of the data. Their ranks were fixed in advance.
//!
//! # Why is the bound valid?
//! A threshold is defined by a rank r. It is the lowest one that fewer than r scores `Out` reach, or the highest one
//! that fewer than r scores `In` lie below. The rank depends only on the number of scores.
//!
//! Write scores as S = Q(U) with U uniform and Q non-decreasing. If fewer than r of n scores reach the threshold, it
//! lies above the r-th largest score. A score that reaches it then has U > U_(n-r+1). This event has a probability with
//! law Beta(r, n-r+1). So the error rate is stochastically at most Beta(r, n-r+1). For continuous scores it is exactly
//! that; with ties or on a grid it is smaller.
//!
//! Given one world's scores, the threshold is fixed, and the number of the other world's scores beyond it is binomial.
//! So each threshold has an exact test (`rank_test.rs`). The levels of all tests add up to the significance. Therefore
//! the largest epsilon that any test refutes is a lower confidence bound. The data are not split, and neither is the
//! significance of one test.
//!
//! # Where is the significance spent?
//! Ranks are powers of two. An estimate from r errors is uncertain by about 1/sqrt(r), but a threshold further out
//! shows more. For most mechanisms the two balance near twenty errors, for any number of observations. So seven tenths
//! of the significance are spent around twenty errors, with weights 1/(1 + ln^2(r/20)). Three tenths are spent evenly,
//! for mechanisms that leak nearly everything or nearly nothing.
//!
//! # Why more ranks from 2^14 on?
//! If the best rank lies between two powers of two, about 1 % of epsilon is lost. More levels cost about the logarithm
//! of their number over sqrt(r). With many errors this is less than 1 %. So an octave (the ranks from one power of two
//! to the next) has 2 ranks from 2^14 on, 4 from 2^16 on and 8 from 2^18 on. They share the octave's level. With powers
//! of two only, 10^12 observations at noise 1.5 showed less than 10^11 did.

use crate::estimator::{ErrorEstimator, Finding, Side};
use crate::evidence::Evidence;
use crate::threshold_choice::Trials;

/// Most of the significance is spent around this number of errors.
const USUAL_ERRORS: f64 = 20.0;
/// The share of the significance spent around [`USUAL_ERRORS`].
const FOCUSED: f64 = 0.7;

/// The first 14 octaves, those of few errors, have one rank each. Later ones have at most `MOST_RANKS`.
const COARSE_OCTAVES: u32 = 14;
const MOST_RANKS: u64 = 8;

/// The ranks that share one octave's level, up to `observations`.
///
/// `octave` is a power of two, the first rank of its octave.
fn shared(octave: u64, observations: u64) -> Vec<u64> {
    let finer = (octave.ilog2() + 2).saturating_sub(COARSE_OCTAVES) / 2;
    let number = (1_u64 << finer.min(MOST_RANKS.ilog2())) as f64;
    let ranks = (0..number as u64).map(|i| (octave as f64 * libm::exp2(i as f64 / number)) as u64);
    ranks.take_while(|&rank| rank <= observations).collect()
}

/// The ranks that a band tests for this many scores, ascending.
pub(crate) fn ranks(observations: u64, side: Side) -> Vec<u64> {
    weighted_ranks(observations, side).into_iter().map(|(rank, _)| rank).collect()
}

/// All ranks up to `observations`, with weights that add up to 1.
fn weighted_ranks(observations: u64, side: Side) -> Vec<(u64, f64)> {
    let octaves = weighted_octaves(observations, side).into_iter();
    let ranks = octaves.flat_map(|(octave, weight)| {
        let ranks = shared(octave, observations);
        let each = weight / ranks.len() as f64;
        ranks.into_iter().map(move |rank| (rank, each))
    });
    ranks.collect()
}

/// All powers of two up to `observations`, with weights that add up to 1.
fn weighted_octaves(observations: u64, side: Side) -> Vec<(u64, f64)> {
    let ranks: Vec<u64> = (0..63).map(|j| 1_u64 << j).take_while(|&rank| rank <= observations).collect();
    let focus = |rank: u64| {
        let distance = libm::log(rank as f64 / USUAL_ERRORS);
        1.0 / (1.0 + distance * distance)
    };
    let total: f64 = ranks.iter().map(|&rank| focus(rank)).sum();
    let even = 1.0 / ranks.len() as f64;
    let focused = if side == Side::Together { 0.0 } else { FOCUSED };
    ranks.into_iter().map(|rank| (rank, focused * focus(rank) / total + (1.0 - focused) * even)).collect()
}

/// The largest epsilon that a threshold of fixed rank shows, and that threshold.
///
/// The result is `floor` if no threshold shows more.
pub(crate) fn find(
    estimator: &dyn ErrorEstimator,
    evidence: &Evidence<'_>,
    delta: f64,
    significance: f64,
    floor: f64,
) -> Finding {
    let sides = estimator.sides();
    let [observations_in, observations_out] = evidence.observations(Trials::All);
    let mut wanted = Vec::new();
    for &side in sides {
        let ranked = match side {
            Side::Upper => observations_out,
            Side::Lower => observations_in,
            Side::Together => observations_in + observations_out,
        };
        let weighted = weighted_ranks(ranked, side);
        wanted.extend(weighted.into_iter().map(|(rank, weight)| (side, rank, weight / sides.len() as f64)));
    }
    let places: Vec<_> = wanted.iter().map(|&(side, rank, _)| (side, rank)).collect();
    let thresholds = evidence.thresholds_of_ranks(&places);
    // Thresholds that may show most come first. Most of the others then need no test.
    let mut candidates: Vec<_> = wanted
        .iter()
        .zip(&thresholds)
        .map(|(&(side, rank, weight), (threshold, counts))| {
            let level = significance * weight;
            (estimator.limit_at_rank(counts, side, rank, delta, level), side, rank, level, *threshold, counts)
        })
        .collect();
    candidates.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut best = Finding { epsilon: floor, threshold: f64::INFINITY, counted: Trials::All };
    for (limit, side, rank, level, threshold, counts) in candidates {
        if limit > best.epsilon {
            let epsilon = estimator.epsilon_at_rank(counts, side, rank, delta, level, best.epsilon);
            if epsilon > best.epsilon {
                best = Finding { epsilon, threshold, ..best };
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_levels_add_up_to_the_significance() {
        for observations in [1, 2, 3, 1000, 5_000_000, 1 << 50] {
            for side in [Side::Upper, Side::Lower, Side::Together] {
                let ranks = weighted_ranks(observations, side);
                assert!((ranks.iter().map(|&(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(
                    ranks.iter().all(|&(rank, weight)| (1..=observations).contains(&rank) && weight > 0.0)
                );
                assert!(ranks.is_sorted_by(|one, other| one.0 < other.0));
            }
        }
    }

    #[test]
    fn ranks_of_many_errors_lie_close_together() {
        let ranks: Vec<u64> =
            weighted_ranks(1 << 40, Side::Upper).into_iter().map(|(rank, _)| rank).collect();
        assert!(ranks.iter().take_while(|&&rank| rank <= 1 << 14).all(|rank| rank.is_power_of_two()));
        let gap = |least: u64| {
            let pairs = ranks.windows(2).filter(|pair| pair[0] >= least);
            pairs.map(|pair| pair[1] as f64 / pair[0] as f64).fold(1.0, f64::max)
        };
        assert!(gap(1) == 2.0 && gap(1 << 18) < 1.1, "{}", gap(1 << 18));
        assert!(ranks.len() < 300);
    }
}
