//! Claims beside what was found: one row of marks for each setting (the paper's Figures 1, 6, 7, 9 and 11).

use crate::drawing::Drawing;
use crate::style::{CLAIMED, OBSERVED, PRINTED, THEORY, panel, title_size};
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

/// The epsilons of one setting; what is not known is not drawn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gap {
    /// What was audited.
    pub name: String,
    /// What is claimed.
    pub claimed: Option<f64>,
    /// What the paper found.
    pub printed: Option<f64>,
    /// What was found here.
    pub found: Option<f64>,
    /// Between what theory puts the true epsilon.
    pub theory: [Option<f64>; 2],
}

/// Settings one below the other, epsilon to the right.
#[derive(Debug, Clone, PartialEq)]
pub struct GapFigure {
    /// What stands above.
    pub title: String,
    /// The settings, from the top down.
    pub gaps: Vec<Gap>,
}

/// Epsilons that differ by more than this factor are drawn on a logarithmic axis.
const WIDE: f64 = 40.0;
const WIDTH: f64 = 860.0;

impl GapFigure {
    /// The smallest and the largest epsilon that is drawn.
    fn range(&self) -> [f64; 2] {
        let numbers = |gap: &Gap| [gap.claimed, gap.printed, gap.found, gap.theory[0], gap.theory[1]];
        let drawn = || self.gaps.iter().flat_map(numbers).flatten();
        [drawn().fold(f64::INFINITY, f64::min), drawn().fold(0.0, f64::max)]
    }

    /// Lays the figure out.
    pub fn draw(&self) -> Drawing {
        let places = self.gaps.len();
        let height = |i: usize| (places - i) as f64;
        let marks = |value: fn(&Gap) -> Option<f64>| -> Vec<(f64, f64)> {
            self.gaps.iter().enumerate().filter_map(|(i, gap)| Some((value(gap)?, height(i)))).collect()
        };
        let mut plots: Vec<Plot> = Vec::new();
        let [least, most] = self.range();
        let is_wide = least > 0.0 && most / least > WIDE;
        for (i, gap) in self.gaps.iter().enumerate() {
            if let [Some(lower), Some(upper)] = gap.theory {
                // A bound that is met exactly is still to be seen.
                let upper = upper.max(if is_wide { 1.01 * lower } else { lower + 0.004 * most });
                let line =
                    LinePlot::new().with_data([(lower, height(i)), (upper, height(i))]).with_color(THEORY);
                let line = line.with_stroke_width(7.0);
                let first = !plots.iter().any(|plot| matches!(plot, Plot::Line(_)));
                plots.push(if first {
                    line.with_legend("between theory's bounds").into()
                } else {
                    line.into()
                });
            }
        }
        let series = [
            ("claimed", CLAIMED, MarkerShape::Square, marks(|gap| gap.claimed)),
            ("printed in the paper", PRINTED, MarkerShape::Triangle, marks(|gap| gap.printed)),
            ("found here", OBSERVED, MarkerShape::Circle, marks(|gap| gap.found)),
        ];
        for (name, colour, marker, points) in series {
            if !points.is_empty() {
                let plot = ScatterPlot::new().with_data(points).with_color(colour).with_marker(marker);
                plots.push(plot.with_size(4.5).with_legend(name).into());
            }
        }
        let names = self.gaps.iter().rev().map(|gap| gap.name.clone()).collect();
        let layout = panel(Layout::auto_from_plots(&plots), "epsilon", "");
        let layout = if is_wide { layout.with_log_x() } else { layout.with_x_axis_min(0.0) };
        let layout =
            layout.with_y_axis_min(0.5).with_y_axis_max(places as f64 + 0.5).with_y_categories(names);
        let figure = Figure::new(1, 1)
            .with_title(self.title.as_str())
            .with_title_size(title_size(&self.title, WIDTH))
            .with_plots(vec![plots])
            .with_layouts(vec![layout])
            .with_cell_size(WIDTH, 120.0 + 26.0 * places as f64)
            .with_shared_legend_bottom();
        Drawing(figure.render())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_marks_are_there() {
        let gap = |name: &str| Gap {
            name: name.into(),
            claimed: Some(1.0),
            found: Some(3.0),
            theory: [Some(2.9), Some(3.5)],
            ..Gap::default()
        };
        let figure = GapFigure { title: "Gaps".into(), gaps: vec![gap("first <one>"), gap("second")] };
        let svg = figure.draw().to_svg();
        for words in ["Gaps", "first &lt;one&gt;", "second", "claimed", "found here", "theory", "epsilon"] {
            assert!(svg.contains(words), "{words}");
        }
        assert!(!svg.contains("printed"), "no mark, no legend");
    }
}
