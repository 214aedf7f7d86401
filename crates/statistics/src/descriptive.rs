//! Figures that say how well the scores separate the worlds, with intervals but no bound on epsilon.

use crate::beta::Beta;
use crate::evidence::Evidence;
use libm::sqrt;
use misdeal_core::{Purpose, Setting, Stream, World, normal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The false positive rates for which the true positive rate is given.
const FALSE_POSITIVE_RATES: [f64; 3] = [0.001, 0.01, 0.1];
/// The number of bootstrap samples.
const RESAMPLES: u64 = 1000;
/// The probability that intervals leave out at each end.
const TAIL: f64 = 0.025;

/// A figure and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// The observed value.
    pub value: f64,
    /// The lower end of the interval.
    pub lower: f64,
    /// The upper end of the interval.
    pub upper: f64,
}

/// The true positive rate at one false positive rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TruePositiveRate {
    /// The largest share of the scores `Out` that may reach the threshold.
    pub false_positive_rate: f64,
    /// The share of the scores `In` that reach the threshold.
    #[serde(flatten)]
    pub figure: Figure,
}

/// Figures that describe how well an attack works.
///
/// # Formula
/// - `auroc` is P(score In > score Out) + P(equal) / 2 over all pairs. Its interval is the normal interval of DeLong,
///   DeLong and Clarke-Pearson (1988), which needs no resampling.
/// - The true positive rate is taken at the lowest threshold that at most the given share of the scores `Out` reaches.
///   Its interval is a percentile bootstrap interval from 1,000 resamples of both worlds. The r-th largest of n
///   resampled scores is the original score of rank ceil(n U), U ~ Beta(r, n - r + 1). The number of scores `In` above
///   it is binomial. So a resample costs two draws and is exact.
///
/// Both kinds of intervals are approximate. Above two million scores, and in stores of counts, scores are compared only
/// up to the grid's resolution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Descriptive {
    /// The area under the receiver operating characteristic.
    pub auroc: Figure,
    /// The true positive rates at false positive rates of 0.1 %, 1 % and 10 %.
    pub true_positive_rates: Vec<TruePositiveRate>,
    /// How the intervals are computed.
    pub intervals: Cow<'static, str>,
}

impl Descriptive {
    pub(crate) fn of(evidence: &Evidence<'_>) -> Self {
        let cells = evidence.fine_cells();
        Descriptive {
            auroc: auroc(&cells),
            true_positive_rates: (0..)
                .zip(FALSE_POSITIVE_RATES)
                .map(|(i, rate)| TruePositiveRate {
                    false_positive_rate: rate,
                    figure: true_positive_rate(&cells, rate, i),
                })
                .collect(),
            intervals: "95 %; DeLong for auroc, bootstrap for true positive rates".into(),
        }
    }
}

fn totals(cells: &[[u64; 2]]) -> [f64; 2] {
    [0, 1].map(|world| cells.iter().map(|cell| cell[world]).sum::<u64>() as f64)
}

fn auroc(cells: &[[u64; 2]]) -> Figure {
    let [n_in, n_out] = totals(cells);
    // The share of the other world's scores below a score, with ties counted half: its mean and variance in both
    // worlds.
    let mut below = [0.0; 2];
    let mut moments = [[0.0; 2]; 2];
    for &[scores_in, scores_out] in cells {
        let counts = [scores_in as f64, scores_out as f64];
        let placed = [(below[1] + 0.5 * counts[1]) / n_out, (below[0] + 0.5 * counts[0]) / n_in];
        for world in 0..2 {
            moments[world][0] += counts[world] * placed[world];
            moments[world][1] += counts[world] * placed[world] * placed[world];
            below[world] += counts[world];
        }
    }
    let value = moments[0][0] / n_in;
    let variance = |world: usize, n: f64| {
        let mean = moments[world][0] / n;
        (moments[world][1] / n - mean * mean).max(0.0) / (n - 1.0)
    };
    let half = -normal::lower_quantile(TAIL) * sqrt(variance(0, n_in) + variance(1, n_out));
    Figure { value, lower: (value - half).max(0.0), upper: (value + half).min(1.0) }
}

/// The area, if it is so far below 1/2 that chance does not explain it.
pub(crate) fn reversed(cells: &[[u64; 2]]) -> Option<Figure> {
    let area = auroc(cells);
    let [n_in, n_out] = totals(cells);
    // If the two worlds' scores do not overlap, the DeLong interval has no width even for few scores. The interval for
    // equal laws (Mann and Whitney 1947) has a width.
    let by_chance = -normal::lower_quantile(TAIL) * sqrt((n_in + n_out + 1.0) / (12.0 * n_in * n_out));
    (area.upper < 0.5 && area.value + by_chance < 0.5).then_some(area)
}

fn true_positive_rate(cells: &[[u64; 2]], false_positive_rate: f64, draw: u32) -> Figure {
    let [n_in, n_out] = totals(cells);
    // For each cell from the top: the scores In strictly above it, and the scores Out in it or above.
    let mut above = [0, 0];
    let steps: Vec<[u64; 2]> = cells
        .iter()
        .rev()
        .map(|cell| {
            let step = [above[0], above[1] + cell[1]];
            above = [above[0] + cell[0], above[1] + cell[1]];
            step
        })
        .collect();
    // The share of the scores In above the score Out of a given rank, counted from the top.
    let rate_above = |rank: u64| {
        let place = steps.partition_point(|step| step[1] < rank).min(steps.len() - 1);
        steps[place][0] as f64 / n_in
    };
    let rank = libm::floor(false_positive_rate * n_out + 1e-9) as u64 + 1;
    if rank > n_out as u64 {
        return Figure { value: 1.0, lower: 1.0, upper: 1.0 };
    }
    let law = Beta::new(rank as f64, n_out - rank as f64 + 1.0);
    let stream = Stream::new(&Setting::default().hash());
    let uniform = |world, resample| {
        let bits = stream.uniform(Purpose::Bootstrap, world, resample, draw);
        (bits as f64 + 0.5) * libm::exp2(-64.0)
    };
    let mut rates: Vec<f64> = (0..RESAMPLES)
        .map(|resample| {
            let quantile = law.upper_quantile(uniform(World::Out, resample)).value;
            let rank = (libm::ceil(n_out * quantile) as u64).clamp(1, n_out as u64);
            binomial_quantile(uniform(World::In, resample), n_in, rate_above(rank)) / n_in
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    let end = |share: f64| rates[((RESAMPLES as f64 * share) as usize).min(rates.len() - 1)];
    Figure { value: rate_above(rank), lower: end(TAIL), upper: end(1.0 - TAIL) }
}

/// The smallest k with P(Binomial(n, p) <= k) >= `level`.
fn binomial_quantile(level: f64, n: f64, p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return if p <= 0.0 { 0.0 } else { n };
    }
    let spread = sqrt(n * p * (1.0 - p));
    let reaches = |k: f64| k >= n || Beta::new(k + 1.0, n - k).tails(p / (1.0 - p))[1] >= level;
    let (mut low, mut high) =
        ((n * p - 10.0 * spread - 20.0).floor().max(-1.0), (n * p + 10.0 * spread + 20.0).ceil().min(n));
    while high - low > 1.0 {
        let middle = (0.5 * (low + high)).floor();
        if reaches(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_by_hand() {
        // Out: 0, 1, 2, 3; In: 2, 3, 4, 5. Of 16 pairs, 13 are in the right order, 2 are tied and 1 is wrong.
        let cells = [[0, 1], [0, 1], [1, 1], [1, 1], [1, 0], [1, 0]];
        let area = auroc(&cells);
        assert!(
            (area.value - 14.0 / 16.0).abs() < 1e-15 && area.lower < area.value && area.upper > area.value
        );
        // No false positive is allowed: 4 and 5 lie above 3.
        let rate = true_positive_rate(&cells, 0.01, 0);
        assert!((rate.value - 0.5).abs() < 1e-15);
        assert!(rate.lower <= 0.25 && rate.upper >= 0.75, "{rate:?}");
        // One of four is allowed: 3, 4 and 5 lie above 2.
        assert!((true_positive_rate(&cells, 0.25, 0).value - 0.75).abs() < 1e-15);
    }

    #[test]
    fn scores_are_reversed_where_chance_does_not_explain_it() {
        assert_eq!(reversed(&[[9, 0], [0, 9]]).map(|area| area.value), Some(0.0));
        assert!(reversed(&[[60, 40], [40, 60]]).is_some());
        for cells in [[[0, 9], [9, 0]], [[2, 0], [0, 2]], [[5, 5], [5, 5]], [[52, 48], [48, 52]]] {
            assert_eq!(reversed(&cells), None, "{cells:?}");
        }
    }

    /// N(1, 1) against N(0, 1): AUROC is Phi(1/sqrt 2), and TPR at FPR 1 % is Phi(1 - 2.326). The spreads are binomial.
    #[test]
    fn figures_of_two_normal_laws() {
        let n = 1e6;
        let count = |from: f64, to: f64| (n * (normal::cdf(to) - normal::cdf(from))).round() as u64;
        let edge = |i: i32| f64::from(i) / 100.0;
        let cells: Vec<_> = (-800..800)
            .map(|i| [count(edge(i) - 1.0, edge(i + 1) - 1.0), count(edge(i), edge(i + 1))])
            .collect();
        let area = auroc(&cells);
        assert!((area.value - normal::cdf(core::f64::consts::FRAC_1_SQRT_2)).abs() < 1e-4, "{area:?}");
        assert!((0.0005..0.002).contains(&(area.upper - area.lower)), "{area:?}");
        let rate = true_positive_rate(&cells, 0.01, 0);
        assert!((rate.value - normal::cdf(1.0 + normal::lower_quantile(0.01))).abs() < 0.003, "{rate:?}");
        assert!((0.002..0.02).contains(&(rate.upper - rate.lower)), "{rate:?}");
    }
}
