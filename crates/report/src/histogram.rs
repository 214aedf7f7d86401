//! The scores of both worlds, counted in cells.

use crate::frame::Panel;
use crate::style::{CLAIMED, OBSERVED, log_y, panel};
use kuva::plot::{BandPlot, LinePlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use misdeal_statistics::ScoreHistogram;

/// The scores of both worlds.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// How many lie where.
    pub histogram: ScoreHistogram,
    /// What a score is.
    pub name: &'static str,
    /// The threshold that an epsilon was found at.
    pub threshold: Option<f64>,
}

/// Cells with fewer scores are all drawn on a linear axis.
const FEW: u64 = 100;
/// Where logarithmic axes begin: cells without scores lie on the axis.
const NONE: f64 = 0.5;

impl Scores {
    /// Both worlds as steps, and the threshold.
    pub fn panel(&self) -> Panel {
        let cells = Cells::of(&self.histogram);
        let most = cells.most();
        let is_logarithmic = most >= FEW;
        let (low, high) =
            if is_logarithmic { (NONE, 2.0 * most as f64) } else { (0.0, 1.08 * most.max(1) as f64) };
        let mut plots: Vec<Plot> = Vec::new();
        let worlds = [
            ("scores without the record", CLAIMED, &cells.scores_out),
            ("scores with the record", OBSERVED, &cells.scores_in),
        ];
        for (name, colour, counts) in worlds {
            let (x, y) = steps(&cells.edges, counts, low);
            let floor = vec![low; x.len()];
            plots.push(
                BandPlot::new(x.clone(), floor, y.clone()).with_color(colour).with_opacity(0.15).into(),
            );
            let line = LinePlot::new().with_data(x.into_iter().zip(y)).with_color(colour);
            plots.push(line.with_stroke_width(1.6).with_legend(name).into());
        }
        if let Some(threshold) = self.threshold.filter(|threshold| threshold.is_finite()) {
            let line = LinePlot::new().with_data([(threshold, low), (threshold, high)]).with_color("black");
            plots.push(
                line.with_dashed().with_stroke_width(1.4).with_legend("threshold of the estimate").into(),
            );
        }
        let layout = panel(Layout::auto_from_plots(&plots), self.name, "runs");
        let layout = if is_logarithmic {
            log_y(layout, [low, high])
        } else {
            layout.with_y_axis_min(low).with_y_axis_max(high)
        };
        Panel { plots, layout }
    }
}

/// The outline of bars that stand on `floor`.
fn steps(edges: &[f64], counts: &[u64], floor: f64) -> (Vec<f64>, Vec<f64>) {
    let bars = edges.windows(2).zip(counts).flat_map(|(edges, &count)| {
        let height = (count as f64).max(floor);
        [(edges[0], height), (edges[1], height)]
    });
    let [first, last] = [edges.first(), edges.last()].map(|edge| edge.map(|&edge| (edge, floor)));
    first.into_iter().chain(bars).chain(last).unzip()
}

/// Cells as wide as the number of scores allows.
struct Cells {
    edges: Vec<f64>,
    scores_in: Vec<u64>,
    scores_out: Vec<u64>,
}

impl Cells {
    /// Neighbours joined until they are as wide as Freedman and Diaconis (1981) would have cells: 2 IQR / n^(1/3), by the world with the
    /// narrower cells.
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

    fn most(&self) -> u64 {
        self.scores_in.iter().chain(&self.scores_out).copied().max().unwrap_or(0)
    }
}

/// 2 IQR / n^(1/3), quartiles being the middles of the cells that hold them.
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

    fn scores(count: u32) -> Scores {
        let of = |shift: f64| -> Vec<f64> {
            (0..count)
                .map(|i| (f64::from(i) * 0.618_034).fract() + (f64::from(i) * 0.414_214).fract() + shift)
                .collect()
        };
        let histogram = histogram_of_scores(&of(0.2), &of(0.0)).unwrap().unwrap();
        Scores { histogram, name: "score", threshold: Some(1.0) }
    }

    #[test]
    fn few_scores_have_few_cells_and_none_is_lost() {
        let counts = [40, 2000, 1_000_000].map(|count| {
            let cells = Cells::of(&scores(count).histogram);
            assert_eq!(cells.edges.len(), cells.scores_in.len() + 1);
            assert!(cells.edges.is_sorted_by(|a, b| a < b));
            for counted in [&cells.scores_in, &cells.scores_out] {
                assert_eq!(counted.iter().sum::<u64>(), u64::from(count));
            }
            cells.scores_in.len()
        });
        assert!(counts[0] < 12 && counts[0] < counts[1] && counts[1] < counts[2], "{counts:?}");
    }

    /// Whatever finite numbers a document holds, drawing ends.
    #[test]
    fn extreme_scores_counts_and_thresholds_are_drawn() {
        let edges =
            [vec![0.0, 1e300], vec![-8e307, 8e307], vec![0.0, 0.0], vec![1e300, 1e300], vec![0.0, 5e-324]];
        for edges in edges {
            for threshold in [None, Some(0.5), Some(1e300), Some(-1.7e308), Some(f64::INFINITY)] {
                let histogram =
                    ScoreHistogram { edges: edges.clone(), scores_in: vec![u64::MAX], scores_out: vec![1] };
                let scores = Scores { histogram, name: "score", threshold };
                let rows = vec![crate::TradeOffRow { scores: Some(scores), ..Default::default() }];
                let drawing = crate::TradeOffFigure { title: String::new(), rows }.draw();
                assert!(drawing.to_svg().starts_with("<svg"));
                assert!(drawing.to_bytes(crate::Format::Png).is_ok());
            }
        }
    }

    #[test]
    fn cells_without_scores_lie_on_the_axis() {
        let (x, y) = steps(&[0.0, 1.0, 2.0], &[0, 3], NONE);
        assert_eq!(x, [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]);
        assert_eq!(y, [NONE, NONE, NONE, 3.0, 3.0, NONE]);
    }
}
