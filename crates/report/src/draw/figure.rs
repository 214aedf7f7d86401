//! A figure: charts side by side, a title above and one legend below.

use super::columns;
use super::font::wrapped;
use super::legend;
use super::panel::{FOOT, Panel};
use super::png::{Format, pixels};
use super::svg::{Anchor, INK, Letters, SOFT, Svg};
use crate::chart::{Chart, share_axes};
use misdeal_core::Result;

const TITLE: f64 = 15.0;
const REMARK: f64 = 12.0;
/// Space right of a plot for its last tick label; `EDGE` is the space around the whole figure.
const RIGHT: f64 = 26.0;
const EDGE: f64 = 10.0;

/// Charts with a common title and legend.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    /// The figure's title; empty if the text around the figure gives one.
    pub title: String,
    /// A remark that holds for all charts.
    pub remark: String,
    /// The charts, row by row.
    pub charts: Vec<Chart>,
    /// How many charts stand in a row.
    pub columns: usize,
}

impl Figure {
    /// A figure of `charts`, with `columns` of them in each row.
    pub fn new(title: impl Into<String>, mut charts: Vec<Chart>, columns: usize) -> Self {
        share_axes(&mut charts);
        Figure { title: title.into(), charts, columns, ..Figure::default() }
    }

    /// The figure as an SVG document.
    pub fn to_svg(&self) -> String {
        self.drawn(Letters::Text)
    }

    /// The content of a file in `format`, as bytes.
    ///
    /// # Errors
    /// The figure needs more pixels than fit in memory.
    pub fn to_bytes(&self, format: Format) -> Result<Vec<u8>> {
        match format {
            Format::Svg => Ok(self.to_svg().into_bytes()),
            Format::Png => pixels(&self.drawn(Letters::Outlines)),
        }
    }

    fn drawn(&self, letters: Letters) -> String {
        let grid = Grid::of(self);
        let width = grid.width();
        let mut svg = Svg::new(letters);
        let mut y = EDGE;
        for (text, size, colour) in [(&self.title, TITLE, INK), (&self.remark, REMARK, SOFT)] {
            for line in wrapped(text, width - 2.0 * EDGE, size) {
                y += 1.3 * size;
                svg.text(&line, [width / 2.0, y], size, colour, Anchor::Middle);
            }
        }
        y = grid.draw(&mut svg, y + EDGE);
        y += legend::draw(&mut svg, &grid.charts, width, y) + EDGE;
        let mut captions: Vec<&str> = self.charts.iter().map(|chart| chart.caption.as_str()).collect();
        captions.dedup();
        let title = match &self.charts[..] {
            [one] if self.title.is_empty() => &one.title,
            _ => &self.title,
        };
        svg.finish([width, y], title, &captions.join(" "))
    }
}

/// The charts and the sizes of their plots. All plots have the same width, and plots in a row the same height.
struct Grid {
    charts: Vec<Chart>,
    columns: usize,
    /// Width of the labels left of the plots, for each column of charts.
    margins: Vec<f64>,
    /// The width of a plot.
    plot: f64,
    /// The height of one row, in charts whose y-axis has rows.
    step: f64,
    /// The scale of marks.
    size: f64,
}

impl Grid {
    fn of(figure: &Figure) -> Self {
        let (charts, is_long) = match &figure.charts[..] {
            // What the only chart shows is said above the figure.
            [one] => columns::of(Chart { title: String::new(), ..one.clone() }),
            several => (several.to_vec(), false),
        };
        let columns = if is_long { charts.len() } else { figure.columns.clamp(1, charts.len().max(1)) };
        let is_rows = charts.iter().any(|chart| !chart.y.rows.is_empty());
        let plot = match (columns, is_rows) {
            _ if is_long => 230.0,
            (1, true) => 600.0,
            (1, false) => 420.0,
            (2, _) => 380.0,
            (3, _) => 330.0,
            _ => 280.0,
        };
        let margin = |column: usize| {
            charts.iter().skip(column).step_by(columns).map(Panel::margin).fold(0.0, f64::max)
        };
        let margins = (0..columns).map(margin).collect();
        let [step, size] = if is_long { [16.0, 0.7] } else { [30.0, 1.0] };
        Grid { charts, columns, margins, plot, step, size }
    }

    fn width(&self) -> f64 {
        2.0 * EDGE + self.margins.iter().map(|margin| margin + self.plot + RIGHT).sum::<f64>()
    }

    /// Draws all charts downwards from `y`, and returns where they end.
    fn draw(&self, svg: &mut Svg, mut y: f64) -> f64 {
        for row in self.charts.chunks(self.columns) {
            let heads = row.iter().map(|chart| Panel::head(chart, self.plot));
            let rows = row.iter().map(|chart| chart.y.rows.len()).max().unwrap_or(0);
            let height = if rows > 0 { self.step * rows as f64 } else { 0.85 * self.plot };
            let top = y + heads.fold(0.0, f64::max);
            let mut start = EDGE;
            for (chart, margin) in row.iter().zip(&self.margins) {
                Panel::new(chart, [start + margin, top, self.plot, height], self.size).draw(svg, start);
                start += margin + self.plot + RIGHT;
            }
            y = top + height + FOOT;
        }
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Draw, Role, Series};

    fn every_kind() -> Chart {
        let two = [[1.0, 2.0], [3.0, 4.0]];
        let three = [[1.0, 2.0, 3.0], [2.0, 3.0, 5.0]];
        let series = vec![
            Series::new("band", Role::Found, Draw::Band, three),
            Series::new("steps", Role::Claimed, Draw::Steps, three),
            Series::new("bars", Role::Theory, Draw::Bars, three),
            Series::new("cells", Role::Sixth, Draw::Cells, [[0.0, 1.0, 0.0, 1.0, 7.0]]),
            Series::new("line", Role::Claimed, Draw::Line, two),
            Series::new("marked", Role::Found, Draw::Marked, two),
            Series::new("spaced", Role::Shuffle, Draw::Spaced, two),
            Series::new("marks", Role::Other, Draw::Marks, two),
            Series::new("at least", Role::Theory, Draw::AtLeast, two),
            Series::new("at most", Role::Theory, Draw::AtMost, two),
            Series::new("dots", Role::Fifth, Draw::Dots, two),
            Series::new("rule", Role::Raw, Draw::Rule, [[2.0]]),
            Series::new("strokes", Role::Raw, Draw::Strokes, [[1.0, 1.0, 2.0, 2.0]]),
        ];
        Chart::new("a chart <&>", "how to read it", [Axis::of("to the right"), Axis::of("up")], series)
    }

    #[test]
    fn every_name_is_in_the_legend_once_and_every_chart_has_its_words() {
        let figure = Figure { remark: "a remark".into(), ..Figure::new("A title", vec![every_kind(); 3], 2) };
        let svg = figure.to_svg();
        let written = |words: &str| svg.matches(&format!(">{words}</text>")).count();
        for series in &every_kind().series {
            let is_line = matches!(series.draw, Draw::Line | Draw::Marked | Draw::Spaced);
            // Lines may have their names beside them too, in each of the charts.
            assert!(written(&series.name) == 1 || is_line && written(&series.name) <= 4, "{}", series.name);
        }
        assert_eq!([written("A title"), written("a remark"), written("a chart &lt;&amp;&gt;")], [1, 1, 3]);
        assert_eq!([written("to the right"), written("up")], [3, 3]);
        assert!(svg.contains("<title>A title</title><desc>how to read it</desc>"));
    }

    #[test]
    fn a_png_is_one_and_the_same_figure_gives_the_same_bytes() {
        let png = || Figure::new("", vec![every_kind()], 1).to_bytes(Format::Png).unwrap();
        assert_eq!((&png()[1..4], png()), (&b"PNG"[..], png()));
    }

    #[test]
    fn whatever_numbers_a_chart_holds_drawing_ends() {
        for ends in [[0.0, 0.0], [1e300, 3.0], [-1.7e308, 1.7e308], [1e-320, 5e-324], [f64::INFINITY, 1.0]] {
            for log in [false, true] {
                let axis = || Axis { log, ..Axis::of("") };
                let mut chart = every_kind();
                (chart.x, chart.y) = (axis(), axis());
                for point in chart.series.iter_mut().flat_map(|series| &mut series.points) {
                    let values = ends.iter().cycle();
                    point.iter_mut().zip(values).for_each(|(number, value)| *number = *value);
                }
                let figure = Figure::new("", vec![chart], 1);
                assert!(!figure.to_svg().contains("NaN"), "{ends:?}");
                assert!(figure.to_bytes(Format::Png).is_ok(), "{ends:?}");
            }
        }
    }
}
