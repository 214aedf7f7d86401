//! Observed errors beside promised curves (the paper's Figures 4 and 5).

use crate::drawing::Drawing;
use crate::histogram;
use crate::style::{OBSERVED, panel, promised, title_size};
use kuva::plot::{BandPlot, LinePlot};
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use misdeal_core::estimate::{ScoreHistogram, TradeOffEstimate};

/// The smallest detection rate that the zoom shows where nothing was observed.
const LEAST_RATE: f64 = 1e-6;

/// The width of a panel.
const WIDTH: f64 = 440.0;

/// A curve that somebody promises, or that theory knows.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedCurve {
    /// What the legend says.
    pub name: String,
    /// False-positive and false-negative rates, by ascending false-positive rate.
    pub points: Vec<[f64; 2]>,
}

/// The scores of both worlds, and the trade-off between both errors that they allow: the whole of it, and a zoom into small false-positive rates on logarithmic axes.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOffFigure {
    /// What stands above.
    pub title: String,
    /// The scores of both worlds, if they are to be seen too.
    pub scores: Option<ScoreHistogram>,
    /// What was observed.
    pub estimate: Option<TradeOffEstimate>,
    /// What was promised.
    pub curves: Vec<NamedCurve>,
}

impl TradeOffFigure {
    /// Lays the figure out.
    ///
    /// Below a promised curve nothing may lie: there the promise is broken. On the right the rate of detection, 1 minus the
    /// false-negative rate, stands for the false-negative rate, and a promise is broken above its curve.
    pub fn draw(&self) -> Drawing {
        let least =
            self.estimate.as_ref().map_or(LEAST_RATE, |estimate| 0.5 / estimate.observations_out as f64);
        let whole = self.lines(|[x, y]| Some([x, y]), |[x, y]| [x, y]);
        let decades = -least.log10();
        let zoom = self.lines(
            |[x, y]| (x >= least && 1.0 - y >= least).then_some([x, 1.0 - y]),
            |rates| rates.map(|rate| rate.log10() / decades),
        );
        let mut layouts = vec![
            panel(Layout::auto_from_plots(&whole), "false-positive rate", "false-negative rate")
                .with_x_axis_min(0.0)
                .with_x_axis_max(1.0)
                .with_y_axis_min(0.0)
                .with_y_axis_max(1.0),
            panel(Layout::auto_from_plots(&zoom), "false-positive rate", "true-positive rate")
                .with_log_scale(),
        ];
        let mut panels = vec![whole, zoom];
        if let Some(scores) = &self.scores {
            let plots = histogram::lines(scores);
            layouts.insert(0, histogram::layout(&plots));
            panels.insert(0, plots);
        }
        let columns = panels.len();
        let figure = Figure::new(1, columns)
            .with_title(self.title.as_str())
            .with_title_size(title_size(&self.title, WIDTH * columns as f64))
            .with_plots(panels)
            .with_layouts(layouts)
            .with_cell_size(WIDTH, 400.0)
            .with_shared_legend_bottom();
        Drawing(figure.render())
    }

    /// All lines of a panel. `place` gives a point's place on its axes, or leaves it out; `seen` where the eye finds it there, in
    /// units of the panel.
    fn lines(
        &self,
        place: impl Fn([f64; 2]) -> Option<[f64; 2]>,
        seen: impl Fn([f64; 2]) -> [f64; 2],
    ) -> Vec<Plot> {
        let mut plots: Vec<Plot> = Vec::new();
        if let Some(estimate) = &self.estimate {
            plots.extend(bounds(estimate, &place));
            let points = estimate.points.iter();
            let rates =
                points.filter_map(|point| place([point.false_positive_rate, point.false_negative_rate]));
            let confidence = 100.0 * (1.0 - estimate.significance);
            let legend = format!("observed, and {confidence:.0} % bounds at each point");
            let line = LinePlot::new().with_data(rates.map(|[x, y]| (x, y))).with_color(OBSERVED);
            plots.push(line.with_stroke_width(2.0).with_legend(legend).into());
        }
        for (i, curve) in self.curves.iter().enumerate() {
            let (colour, dash) = promised(i);
            let points = thinned(curve.points.iter().filter_map(|&point| place(point)), &seen);
            let line = LinePlot::new().with_data(points.into_iter().map(|[x, y]| (x, y))).with_color(colour);
            plots.push(
                line.with_line_style(dash).with_stroke_width(1.8).with_legend(curve.name.as_str()).into(),
            );
        }
        plots
    }
}

/// The points without those too near to their predecessors to show: dashes need room.
fn thinned(points: impl Iterator<Item = [f64; 2]>, seen: impl Fn([f64; 2]) -> [f64; 2]) -> Vec<[f64; 2]> {
    const NEAR: f64 = 0.025;
    let mut kept: Vec<[f64; 2]> = Vec::new();
    let mut last = None;
    for point in points {
        let distance = kept.last().map_or(f64::INFINITY, |&before| {
            let ([x, y], [u, v]) = (seen(point), seen(before));
            (x - u).hypot(y - v)
        });
        if distance >= NEAR {
            kept.push(point);
        }
        last = Some(point);
    }
    kept.extend(last.filter(|last| kept.last() != Some(last)));
    kept
}

/// The region between the observed curve and the one through both upper bounds.
fn bounds(estimate: &TradeOffEstimate, place: impl Fn([f64; 2]) -> Option<[f64; 2]>) -> Option<Plot> {
    // A band is drawn over common x: the bounded false-negative rate at the bounded false-positive rate.
    let bounded = |rate: f64| {
        let points = &estimate.points;
        let found =
            points.iter().rev().take_while(|point| point.false_positive_rate_upper_bound <= rate).last();
        found.map_or(1.0, |point| point.false_negative_rate_upper_bound)
    };
    let mut edges: Vec<[f64; 3]> = Vec::new();
    for point in estimate.points.iter().rev() {
        let x = point.false_positive_rate;
        let (observed, bound) = (place([x, point.false_negative_rate]), place([x, bounded(x)]));
        if let (Some([x, y]), Some([_, z])) = (observed, bound) {
            edges.push([x, y.min(z), y.max(z)]);
        }
    }
    if edges.len() < 2 {
        return None;
    }
    let side = |i: usize| edges.iter().map(move |edge| edge[i]).collect::<Vec<f64>>();
    Some(BandPlot::new(side(0), side(1), side(2)).with_color(OBSERVED).with_opacity(0.18).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use misdeal_core::estimate::{histogram_of_scores, trade_off_from_scores};

    fn figure() -> TradeOffFigure {
        let scores = |shift: f64| -> Vec<f64> {
            (0..5000).map(|i| (f64::from(i) * 0.618_034).fract() + shift).collect()
        };
        let estimate = trade_off_from_scores(&scores(0.3), &scores(0.0), 0.05).unwrap();
        let curve = NamedCurve {
            name: "a promise <&> its \"name\"".into(),
            points: vec![[0.0, 1.0], [0.5, 0.4], [1.0, 0.0]],
        };
        TradeOffFigure {
            title: "Observed and promised".into(),
            scores: histogram_of_scores(&scores(0.3), &scores(0.0)).unwrap(),
            estimate: Some(estimate),
            curves: vec![curve],
        }
    }

    #[test]
    fn names_and_axes_are_there_and_names_stay_text() {
        let svg = figure().draw().to_svg();
        for words in [
            "Observed and promised",
            "false-positive rate",
            "true-positive rate",
            "observed",
            "95 % bounds",
            "with the record",
            "score",
        ] {
            assert!(svg.contains(words), "{words}");
        }
        assert!(svg.contains("a promise &lt;&amp;&gt; its"), "names are escaped");
    }

    #[test]
    fn a_png_is_one_and_the_same_figure_gives_the_same_bytes() {
        let png = figure().draw().to_bytes(Format::Png).unwrap();
        assert_eq!(&png[1..4], b"PNG");
        assert_eq!(png, figure().draw().to_bytes(Format::Png).unwrap());
    }
}
