//! A histogram of the scores of both worlds, with few cells, for plots.

use crate::exact::occupied;
use crate::trade_off::{counted, counts_of};
use misdeal_core::score_grid::{BINS, bin, lower_edge};
use misdeal_core::{BinCounts, Result, ScoreStore, World, check_finite};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest number of cells of a histogram.
const MOST_CELLS: u32 = 60;

/// The number of scores of each world in each cell; cells are about equally wide.
///
/// Every score is in exactly one cell. Cell edges are edges of the store's grid, so counts are exact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreHistogram {
    /// The edges of the cells, ascending: where each cell begins, and where the last one ends.
    pub edges: Vec<f64>,
    /// The number of scores `In` in each cell.
    pub scores_in: Vec<u64>,
    /// The number of scores `Out` in each cell.
    pub scores_out: Vec<u64>,
}

/// The histogram of a store's scores; `None` if there are no scores.
pub fn histogram(store: &ScoreStore) -> Option<ScoreHistogram> {
    let [counts_in, counts_out] = World::BOTH.map(|world| counts_of(store, world));
    from_counts(&counts_in, &counts_out)
}

/// The histogram of any scores; `None` if there are no scores.
///
/// # Errors
/// Scores that are not finite.
pub fn histogram_of_scores(scores_in: &[f64], scores_out: &[f64]) -> Result<Option<ScoreHistogram>> {
    check_finite("scores_in", 0, scores_in)?;
    check_finite("scores_out", 0, scores_out)?;
    Ok(from_counts(&counted(scores_in), &counted(scores_out)))
}

fn from_counts(counts_in: &BinCounts, counts_out: &BinCounts) -> Option<ScoreHistogram> {
    let (bins, cells) = occupied(counts_in, counts_out);
    let (first, end) = (*bins.first()?, bins.last()? + 1);
    let [lowest, highest] = [first, end.min(BINS - 1)].map(lower_edge);
    // Cells of equal width, then moved to the grid. If all scores are nearly equal, edges coincide.
    let even = |i: u32| lowest + (highest - lowest) * (f64::from(i) / f64::from(MOST_CELLS));
    let mut begins: Vec<u32> = (1..MOST_CELLS).map(|i| bin(even(i))).collect();
    begins.insert(0, first);
    begins.dedup();
    begins.retain(|&begin| begin < end);
    let mut histogram = ScoreHistogram {
        edges: begins.iter().copied().chain([end.min(BINS - 1)]).map(lower_edge).collect(),
        scores_in: vec![0; begins.len()],
        scores_out: vec![0; begins.len()],
    };
    for (bin, [scores_in, scores_out]) in bins.iter().zip(&cells) {
        let cell = begins.partition_point(|begin| begin <= bin) - 1;
        histogram.scores_in[cell] += scores_in;
        histogram.scores_out[cell] += scores_out;
    }
    Some(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::normal;

    #[test]
    fn every_score_is_counted_once_between_its_edges() {
        let scores = |mean: f64, n: u32| -> Vec<f64> {
            (0..n).map(|i| mean + normal::quantile((f64::from(i) + 0.5) / f64::from(n))).collect()
        };
        let (scores_in, scores_out) = (scores(1.0, 10_000), scores(0.0, 7_000));
        let found = histogram_of_scores(&scores_in, &scores_out).unwrap().unwrap();
        assert!((50..=MOST_CELLS as usize).contains(&found.scores_in.len()), "{}", found.scores_in.len());
        assert_eq!(found.edges.len(), found.scores_in.len() + 1);
        assert!(found.edges.is_sorted_by(|a, b| a < b));
        for (scores, counts) in [(&scores_in, &found.scores_in), (&scores_out, &found.scores_out)] {
            for (edges, &count) in found.edges.windows(2).zip(counts) {
                let within = scores.iter().filter(|&&score| edges[0] <= score && score < edges[1]).count();
                assert_eq!(within as u64, count, "{edges:?}");
            }
            assert_eq!(counts.iter().sum::<u64>(), scores.len() as u64);
        }
    }

    #[test]
    fn few_and_extreme_scores_have_cells_too() {
        let of = |scores_in: &[f64], scores_out: &[f64]| histogram_of_scores(scores_in, scores_out).unwrap();
        assert_eq!(of(&[], &[]), None);
        let one = of(&[3.0, 3.0], &[3.0]).unwrap();
        assert_eq!((one.scores_in, one.scores_out), (vec![2], vec![1]));
        let wide = of(&[f64::MAX], &[f64::MIN, 0.0]).unwrap();
        assert_eq!(wide.scores_in.iter().sum::<u64>(), 1);
        assert_eq!(wide.scores_out.iter().sum::<u64>(), 2);
        assert!(wide.edges.iter().all(|edge| edge.is_finite()), "{:?}", wide.edges);
        assert!(histogram_of_scores(&[f64::NAN], &[0.0]).is_err());
    }
}
