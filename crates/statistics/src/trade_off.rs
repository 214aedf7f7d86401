//! The empirical trade-off curve: both error rates at many thresholds.

use crate::binomial::upper_bound;
use crate::exact::occupied;
use misdeal_core::score_grid::lower_edge;
use misdeal_core::{BinCounts, Error, OrInfinite, Result, ScoreStore, World, check_finite};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest number of points of a curve, as many as a plot can show.
const MOST_POINTS: usize = 600;

/// Both error rates at one threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TradeOffPoint {
    /// Scores at or above this value count as runs with the target; null if infinite.
    pub threshold: OrInfinite,
    /// The share of scores `Out` at or above the threshold.
    pub false_positive_rate: f64,
    /// The share of scores `In` below the threshold.
    pub false_negative_rate: f64,
    /// The Clopper-Pearson upper bound on the false-positive rate, at half the significance.
    pub false_positive_rate_upper_bound: f64,
    /// The Clopper-Pearson upper bound on the false-negative rate, at half the significance.
    pub false_negative_rate_upper_bound: f64,
}

/// The observed trade-off between the two error rates.
///
/// The bounds hold separately at each point. At any one threshold that was chosen without these scores, both bounds
/// hold together with probability at least 1 - `significance`. They do not hold for all points together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TradeOffEstimate {
    /// The points, by ascending threshold.
    pub points: Vec<TradeOffPoint>,
    /// The level of the bounds.
    pub significance: f64,
    /// The number of scores `In`.
    pub observations_in: u64,
    /// The number of scores `Out`.
    pub observations_out: u64,
}

/// The trade-off curve of a store's scores, at edges of the grid.
///
/// # Errors
/// A store without scores in one of the worlds.
pub fn trade_off(store: &ScoreStore, significance: f64) -> Result<TradeOffEstimate> {
    let [counts_in, counts_out] = World::BOTH.map(|world| counts_of(store, world));
    from_counts(&counts_in, &counts_out, significance)
}

/// The trade-off curve of any scores, at edges of the grid.
///
/// # Errors
/// Scores that are not finite, or none in one of the worlds.
pub fn trade_off_from_scores(
    scores_in: &[f64],
    scores_out: &[f64],
    significance: f64,
) -> Result<TradeOffEstimate> {
    check_finite("scores_in", 0, scores_in)?;
    check_finite("scores_out", 0, scores_out)?;
    from_counts(&counted(scores_in), &counted(scores_out), significance)
}

/// The counts of all scores of one world on the grid.
pub(crate) fn counts_of(store: &ScoreStore, world: World) -> BinCounts {
    let [even, odd] = [false, true].map(|odd| store.bin_counts(world, odd));
    match (even, odd) {
        (Some(even), Some(odd)) => {
            let mut all = even.clone();
            all.merge(odd.clone());
            all
        }
        _ => counted(store.exact_scores(world).flat_map(|(_, scores)| scores)),
    }
}

pub(crate) fn counted<'a>(scores: impl IntoIterator<Item = &'a f64>) -> BinCounts {
    let mut counts = BinCounts::default();
    scores.into_iter().for_each(|&score| counts.insert(score));
    counts
}

fn from_counts(counts_in: &BinCounts, counts_out: &BinCounts, significance: f64) -> Result<TradeOffEstimate> {
    let [observations_in, observations_out] = [counts_in, counts_out].map(|counts| counts.from_bin_up(0));
    if observations_in == 0 || observations_out == 0 {
        let hint = "a curve needs scores of both worlds";
        return Err(Error::bad_value("observations_per_world", 0, "at least 1", hint));
    }
    let (bins, cells) = occupied(counts_in, counts_out);
    let rate = |errors: u64, observations: u64| errors as f64 / observations as f64;
    let point = |threshold: f64, false_positives: u64, false_negatives: u64| TradeOffPoint {
        threshold: threshold.into(),
        false_positive_rate: rate(false_positives, observations_out),
        false_negative_rate: rate(false_negatives, observations_in),
        false_positive_rate_upper_bound: upper_bound(false_positives, observations_out, 0.5 * significance)
            .value,
        false_negative_rate_upper_bound: upper_bound(false_negatives, observations_in, 0.5 * significance)
            .value,
    };
    let mut points: Vec<TradeOffPoint> = Vec::new();
    let (mut false_positives, mut false_negatives) = (observations_out, 0);
    let mut last = [f64::NEG_INFINITY; 2];
    for (bin, [scores_in, scores_out]) in bins.iter().zip(&cells) {
        let here = [place(false_positives, observations_out), -place(false_negatives, observations_in)];
        let moved = [0, 1].map(|i| (here[i] - last[i]).abs());
        if moved[0] + moved[1] >= 1.0 {
            points.push(point(lower_edge(*bin), false_positives, false_negatives));
            last = here;
        }
        false_positives -= scores_out;
        false_negatives += scores_in;
    }
    points.push(point(f64::INFINITY, 0, observations_in));
    Ok(TradeOffEstimate { points, significance, observations_in, observations_out })
}

/// The position of an error rate on a scale that is uniform in its logit.
///
/// So a curve has points at every zoom level of a plot. One unit is one point, and there are about half of
/// [`MOST_POINTS`].
fn place(errors: u64, observations: u64) -> f64 {
    // Adding half a count keeps the logit finite. Up to 1e15 observations span 70.
    let logit = libm::log((errors as f64 + 0.5) / ((observations - errors) as f64 + 0.5));
    logit * (MOST_POINTS / 2) as f64 / 70.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::normal;

    /// Scores at the quantiles of two normal laws.
    fn gaussian(mu: f64, observations: u32) -> [Vec<f64>; 2] {
        let quantile = |i: u32| normal::quantile((f64::from(i) + 0.5) / f64::from(observations));
        [mu, 0.0].map(|mean| (0..observations).map(|i| mean + quantile(i)).collect())
    }

    #[test]
    fn follows_the_curve_of_two_gaussians() {
        let [scores_in, scores_out] = gaussian(1.0, 100_000);
        let found = trade_off_from_scores(&scores_in, &scores_out, 0.05).unwrap();
        assert!((100..=MOST_POINTS).contains(&found.points.len()), "{}", found.points.len());
        for point in &found.points[1..found.points.len() - 1] {
            let exact = [normal::cdf(-*point.threshold), normal::cdf(*point.threshold - 1.0)];
            assert!((point.false_positive_rate - exact[0]).abs() < 2e-5, "{point:?} {exact:?}");
            assert!((point.false_negative_rate - exact[1]).abs() < 2e-5, "{point:?} {exact:?}");
            assert!(point.false_positive_rate < point.false_positive_rate_upper_bound);
            assert!(point.false_negative_rate < point.false_negative_rate_upper_bound);
        }
        assert!(found.points.is_sorted_by(|a, b| a.threshold < b.threshold));
        let [first, last] = [found.points[0], found.points[found.points.len() - 1]];
        assert!(first.false_positive_rate >= 1.0 && last.false_negative_rate >= 1.0);
    }

    #[test]
    fn has_one_point_per_score_where_there_are_few() {
        let found = trade_off_from_scores(&[1.0, 2.0, 4.0], &[0.5, 1.5], 0.05).unwrap();
        let rates: Vec<_> =
            found.points.iter().map(|point| (point.false_positive_rate, point.false_negative_rate)).collect();
        let third = 1.0 / 3.0;
        assert_eq!(
            rates,
            [(1.0, 0.0), (0.5, 0.0), (0.5, third), (0.0, third), (0.0, 2.0 * third), (0.0, 1.0)]
        );
        assert!(trade_off_from_scores(&[], &[1.0], 0.05).is_err());
        assert!(trade_off_from_scores(&[f64::NAN], &[1.0], 0.05).is_err());
    }
}
