//! Observed errors beside promised curves (the paper's Figures 4 and 5).

use crate::drawing::Drawing;
use crate::frame::{Frame, Panel};
use crate::histogram::Scores;
use crate::style::{OBSERVED, log_x, log_y, panel, promised};
use kuva::plot::{BandPlot, LinePlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use misdeal_results::numbers::confidence;
use misdeal_statistics::TradeOffEstimate;

/// The smallest detection rate that the zoom shows where nothing was observed.
const LEAST_RATE: f64 = 1e-6;

/// The width of a panel of one audit, and of several.
const WIDTH: f64 = 440.0;
const NARROW: f64 = 350.0;

/// A curve that somebody promises, or that theory knows.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedCurve {
    /// Whose it is.
    pub name: String,
    /// Whether what was observed refutes it, if it was tested.
    pub refuted: Option<bool>,
    /// False-positive and false-negative rates, by ascending false-positive rate.
    pub points: Vec<[f64; 2]>,
}

/// What one audit observed and was promised.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TradeOffRow {
    /// What was audited, where there is more than one.
    pub name: String,
    /// The scores of both worlds, if they are to be seen too.
    pub scores: Option<Scores>,
    /// What was observed.
    pub estimate: Option<TradeOffEstimate>,
    /// What was promised.
    pub curves: Vec<NamedCurve>,
}

/// The scores of both worlds, and the trade-off between both errors that they allow: the whole of it, and a zoom into small false-positive
/// rates on logarithmic axes.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOffFigure {
    /// What stands above.
    pub title: String,
    /// The audits: the panels of one stand beside each other, those of more than one below each other, audits beside each other.
    pub rows: Vec<TradeOffRow>,
}

impl TradeOffFigure {
    /// Lays the figure out.
    ///
    /// Below a promised curve nothing may lie: there the promise is broken. In the zoom the rate of detection, 1 minus the
    /// false-negative rate, stands for the false-negative rate, and a promise is broken above its curve.
    pub fn draw(&self) -> Drawing {
        let is_one = self.rows.len() == 1;
        let drawn: Vec<Vec<Panel>> = self.rows.iter().map(|row| row.panels(is_one)).collect();
        let count = drawn.iter().map(Vec::len).max().unwrap_or(0);
        let (columns, panels, width) = if is_one {
            (count, drawn.into_iter().flatten().collect(), WIDTH)
        } else {
            let mut columns: Vec<_> = drawn.into_iter().map(Vec::into_iter).collect();
            let panels =
                (0..count).flat_map(|_| columns.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>());
            (self.rows.len(), panels.collect(), NARROW)
        };
        Frame { title: &self.title, remark: None, columns, cell: [width, 0.9 * width], panels }.draw()
    }
}

impl TradeOffRow {
    /// Its panels; verdicts stand in the legend of the only audit, or else above the panels of each.
    fn panels(&self, is_one: bool) -> Vec<Panel> {
        let least =
            self.estimate.as_ref().map_or(LEAST_RATE, |estimate| 0.5 / estimate.observations_out as f64);
        let whole = self.lines(is_one, |[x, y]| Some([x, y]));
        let zoom = self.lines(is_one, |[x, y]| (x >= least && 1.0 - y >= least).then_some([x, 1.0 - y]));
        let rates = [least, 1.0];
        let mut whole_layout =
            panel(Layout::auto_from_plots(&whole), "false-positive rate", "false-negative rate")
                .with_x_axis_min(0.0)
                .with_x_axis_max(1.0)
                .with_y_axis_min(0.0)
                .with_y_axis_max(1.0);
        if !is_one {
            whole_layout = whole_layout
                .with_title(self.name.as_str())
                .with_title_size(13)
                .with_subtitle(self.verdict())
                .with_subtitle_size(10)
                .with_subtitle_wrap(50);
        }
        let zoom_layout = panel(Layout::auto_from_plots(&zoom), "false-positive rate", "true-positive rate");
        let zoom_layout = log_y(log_x(zoom_layout, rates), rates);
        let scores = self.scores.as_ref().map(Scores::panel);
        let curves =
            [Panel { plots: whole, layout: whole_layout }, Panel { plots: zoom, layout: zoom_layout }];
        scores.into_iter().chain(curves).collect()
    }

    fn verdict(&self) -> String {
        let refuted: Vec<&str> = self
            .curves
            .iter()
            .filter(|curve| curve.refuted == Some(true))
            .map(|curve| curve.name.as_str())
            .collect();
        if !refuted.is_empty() {
            format!("refuted: {}", refuted.join("; "))
        } else if self.curves.iter().any(|curve| curve.refuted.is_some()) {
            "no promise refuted".into()
        } else {
            String::new()
        }
    }

    /// All lines of a panel. `place` gives a point's place on its axes, or leaves it out.
    fn lines(&self, with_verdicts: bool, place: impl Fn([f64; 2]) -> Option<[f64; 2]>) -> Vec<Plot> {
        let mut plots: Vec<Plot> = Vec::new();
        if let Some(estimate) = &self.estimate {
            plots.extend(bounds(estimate, &place));
            let points = estimate.points.iter();
            let rates =
                points.filter_map(|point| place([point.false_positive_rate, point.false_negative_rate]));
            let confidence = confidence(estimate.significance);
            let legend = format!("observed, and {confidence} bounds at each point");
            let line = LinePlot::new().with_data(rates.map(|[x, y]| (x, y))).with_color(OBSERVED);
            plots.push(line.with_stroke_width(2.0).with_legend(legend).into());
        }
        for (i, curve) in self.curves.iter().enumerate() {
            let (colour, dash) = promised(i);
            let points = curve.points.iter().filter_map(|&point| place(point));
            let line = LinePlot::new().with_data(points.map(|[x, y]| (x, y))).with_color(colour);
            let verdict = match curve.refuted.filter(|_| with_verdicts) {
                Some(true) => ": refuted",
                Some(false) => ": not refuted",
                None => "",
            };
            let legend = format!("{}{verdict}", curve.name);
            plots.push(line.with_line_style(dash).with_stroke_width(1.8).with_legend(legend).into());
        }
        plots
    }
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
    use misdeal_statistics::{histogram_of_scores, trade_off_from_scores};

    fn row() -> TradeOffRow {
        let scores = |shift: f64| -> Vec<f64> {
            (0..5000).map(|i| (f64::from(i) * 0.618_034).fract() + shift).collect()
        };
        let estimate = trade_off_from_scores(&scores(0.3), &scores(0.0), 0.05).unwrap();
        let curve = NamedCurve {
            name: "a promise <&> its \"name\"".into(),
            refuted: Some(true),
            points: vec![[0.0, 1.0], [0.5, 0.4], [1.0, 0.0]],
        };
        let histogram = histogram_of_scores(&scores(0.3), &scores(0.0)).unwrap().unwrap();
        TradeOffRow {
            name: "an audit".into(),
            scores: Some(Scores { histogram, name: "score", threshold: Some(0.5) }),
            estimate: Some(estimate),
            curves: vec![curve],
        }
    }

    fn figure() -> TradeOffFigure {
        TradeOffFigure { title: "Observed and promised".into(), rows: vec![row()] }
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
            "threshold",
        ] {
            assert!(svg.contains(words), "{words}");
        }
        assert!(svg.contains("a promise &lt;&amp;&gt; its"), "names are escaped");
        assert!(svg.contains(": refuted") && !svg.contains("an audit"), "one audit needs no name");
    }

    #[test]
    fn no_bound_is_said_to_be_certain() {
        for (significance, words) in [(1e-3, "and 99.9 % bounds"), (1e-9, "and 99.99 % bounds")] {
            let mut figure = figure();
            figure.rows[0].estimate.as_mut().unwrap().significance = significance;
            assert!(figure.draw().to_svg().contains(words), "{words}");
        }
    }

    #[test]
    fn every_audit_has_its_panels_its_name_and_its_verdict() {
        let other = TradeOffRow {
            name: "another".into(),
            curves: row()
                .curves
                .into_iter()
                .map(|curve| NamedCurve { refuted: Some(false), ..curve })
                .collect(),
            ..row()
        };
        let figure = TradeOffFigure { title: "Two".into(), rows: vec![row(), other] };
        let svg = figure.draw().to_svg();
        for words in ["an audit", "another", "refuted: a promise", "no promise refuted"] {
            assert_eq!(svg.matches(words).count(), 1, "{words}");
        }
        assert_eq!(svg.matches(">true-positive rate<").count(), 2);
    }

    #[test]
    fn a_png_is_one_and_the_same_figure_gives_the_same_bytes() {
        let png = figure().draw().to_bytes(Format::Png).unwrap();
        assert_eq!(&png[1..4], b"PNG");
        assert_eq!(png, figure().draw().to_bytes(Format::Png).unwrap());
    }
}
