//! A chart of the scores of both worlds, counted in cells.

use crate::chart::{Axis, Chart, Draw, Role, Series};
use misdeal_results::numbers::significant;
use misdeal_statistics::ScoreHistogram;

/// If all cells have fewer scores than this, the axis of counts is linear.
const FEW: u64 = 100;

/// The histogram of both worlds' scores, with the adversary's threshold. `name` says what the scores are.
pub fn chart(histogram: &ScoreHistogram, name: &str, threshold: Option<f64>) -> Chart {
    let cells = Cells::of(histogram);
    let steps = |counts: &[u64]| -> Vec<[f64; 3]> {
        let cells = cells.edges.windows(2).zip(counts);
        cells.map(|(edges, &count)| [edges[0], edges[1], count as f64]).collect()
    };
    let threshold = threshold.filter(|threshold| threshold.is_finite());
    let rule = Series::new("threshold of the estimate", Role::Raw, Draw::Rule, threshold.map(|at| [at]));
    let series = vec![
        Series::new("without the record", Role::Claimed, Draw::Steps, steps(&cells.scores_out)),
        Series::new("with the record", Role::Found, Draw::Steps, steps(&cells.scores_in)),
        rule.labelled(threshold.map(significant)),
    ];
    let most = cells.scores_in.iter().chain(&cells.scores_out).max();
    let y = Axis { log: most.is_some_and(|most| *most >= FEW), ..Axis::of("runs") };
    let caption = "The adversary's score of every run, with the record and without it. Where the two differ, the record shows.";
    Chart::new("Scores in both worlds", caption, [Axis::of(name), y], series)
}

/// Counts in cells. The cells are as wide as the number of scores allows.
struct Cells {
    edges: Vec<f64>,
    scores_in: Vec<u64>,
    scores_out: Vec<u64>,
}

impl Cells {
    /// Joins neighbouring cells until they are wide enough.
    ///
    /// The width is that of Freedman and Diaconis (1981), 2 IQR / n^(1/3). Of both worlds, the one with the narrower cells decides.
    fn of(histogram: &ScoreHistogram) -> Self {
        let ScoreHistogram { edges, scores_in, scores_out } = histogram;
        let width = match (edges.first(), edges.last()) {
            (Some(first), Some(last)) => (last - first) / scores_in.len().max(1) as f64,
            _ => 0.0,
        };
        let wanted = [scores_in, scores_out].map(|counts| cell_width(edges, counts));
        let wanted = wanted.into_iter().filter(|width| *width > 0.0).fold(f64::INFINITY, f64::min);
        let joined = (wanted / width).round();
        let joined = if joined.is_finite() { (joined as usize).clamp(1, scores_in.len().max(1)) } else { 1 };
        let sums = |counts: &[u64]| counts.chunks(joined).map(|cells| cells.iter().sum()).collect();
        let mut begins: Vec<f64> = edges.iter().copied().take(scores_in.len()).step_by(joined).collect();
        begins.extend(edges.last());
        Self { edges: begins, scores_in: sums(scores_in), scores_out: sums(scores_out) }
    }
}

/// The cell width 2 IQR / n^(1/3). A quartile is the middle of the cell that holds it.
fn cell_width(edges: &[f64], counts: &[u64]) -> f64 {
    let all: u64 = counts.iter().sum();
    let quantile = |share: f64| {
        let mut below = 0;
        let holds = |&(_, &count): &(&[f64], &u64)| {
            below += count;
            below as f64 >= share * all as f64
        };
        edges.windows(2).zip(counts).find(holds).map_or(0.0, |(cell, _)| 0.5 * (cell[0] + cell[1]))
    };
    2.0 * (quantile(0.75) - quantile(0.25)) / (all.max(1) as f64).cbrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_statistics::histogram_of_scores;

    fn scores(count: u32) -> ScoreHistogram {
        let of = |shift: f64| -> Vec<f64> {
            (0..count)
                .map(|i| (f64::from(i) * 0.618_034).fract() + (f64::from(i) * 0.414_214).fract() + shift)
                .collect()
        };
        histogram_of_scores(&of(0.2), &of(0.0)).unwrap().unwrap()
    }

    #[test]
    fn few_scores_have_few_cells_and_none_is_lost() {
        let counts = [40, 2000, 1_000_000].map(|count| {
            let cells = Cells::of(&scores(count));
            assert_eq!(cells.edges.len(), cells.scores_in.len() + 1);
            assert!(cells.edges.is_sorted_by(|a, b| a < b));
            for counted in [&cells.scores_in, &cells.scores_out] {
                assert_eq!(counted.iter().sum::<u64>(), u64::from(count));
            }
            cells.scores_in.len()
        });
        assert!(counts[0] < 12 && counts[0] < counts[1] && counts[1] < counts[2], "{counts:?}");
    }

    #[test]
    fn an_infinite_threshold_is_not_drawn() {
        let drawn = |threshold| chart(&scores(100), "score", threshold).series.len();
        assert_eq!([None, Some(f64::INFINITY), Some(0.5)].map(drawn), [2, 2, 3]);
    }
}
