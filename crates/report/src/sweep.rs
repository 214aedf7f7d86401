//! Epsilon against the number of observations, with theory's lines (the paper's Figure 3).

use crate::drawing::Drawing;
use crate::frame::{Frame, Panel};
use crate::style::{
    CLAIMED, FOUND, OBSERVED, PRINTED, THEORY, THEORY_AT_MOST, VALID, log_x, padded, padded_decades, panel,
};
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{BandPlot, LinePlot, LineStyle, ScatterPlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

/// What some number of observations showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// Observations of a run.
    pub observations: f64,
    /// The mean over runs of the largest epsilon over all thresholds.
    pub epsilon: f64,
    /// Its standard deviation over runs.
    pub standard_deviation: Option<f64>,
    /// The mean over runs of a bound that holds as stated.
    pub valid_epsilon: Option<f64>,
}

/// One setting with more and more observations; what is not known is not drawn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sweep {
    /// What was audited.
    pub name: String,
    /// What was found, by ascending observations.
    pub found: Vec<Found>,
    /// Observations and epsilon that the paper prints.
    pub printed: Vec<[f64; 2]>,
    /// What is claimed.
    pub claimed: Option<f64>,
    /// What theory says at least and at most.
    pub theory: [Option<f64>; 2],
}

/// A panel for each setting.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepFigure {
    /// What stands above.
    pub title: String,
    /// What else is to be known of all settings.
    pub remark: Option<String>,
    /// The settings.
    pub sweeps: Vec<Sweep>,
}

impl SweepFigure {
    /// Lays the figure out, three panels in a row.
    pub fn draw(&self) -> Drawing {
        let frame = Frame {
            title: &self.title,
            remark: self.remark.as_deref(),
            columns: self.sweeps.len().clamp(1, 3),
            cell: [340.0, 280.0],
            panels: self.sweeps.iter().map(Sweep::panel).collect(),
        };
        frame.draw()
    }
}

impl Sweep {
    fn panel(&self) -> Panel {
        let ends = padded_decades(self.observations());
        let plots = self.plots(ends);
        let [low, high] = padded([0.0, self.largest()]);
        let layout = panel(Layout::auto_from_plots(&plots), "observations", "epsilon")
            .with_y_axis_min(low)
            .with_y_axis_max(high)
            .with_title(self.name.as_str())
            .with_title_size(13);
        Panel { plots, layout: log_x(layout, ends) }
    }

    /// The fewest and the most observations that anything is known of.
    fn observations(&self) -> [f64; 2] {
        let drawn = || {
            self.found.iter().map(|found| found.observations).chain(self.printed.iter().map(|print| print[0]))
        };
        let [least, most] = [drawn().fold(f64::INFINITY, f64::min), drawn().fold(1.0, f64::max)];
        [least.min(most), most]
    }

    fn largest(&self) -> f64 {
        let found = self.found.iter().map(|found| found.epsilon + found.standard_deviation.unwrap_or(0.0));
        let known = [self.claimed, self.theory[0], self.theory[1]].into_iter().flatten();
        found.chain(known).chain(self.printed.iter().map(|print| print[1])).fold(0.0, f64::max)
    }

    fn plots(&self, ends: [f64; 2]) -> Vec<Plot> {
        let mut plots: Vec<Plot> = Vec::new();
        if let [Some(lower), Some(upper)] = self.theory {
            plots.push(
                BandPlot::new(ends, [lower; 2], [upper; 2]).with_color(THEORY).with_opacity(0.18).into(),
            );
        }
        let levels = [
            ("theory, at least", THEORY, LineStyle::Solid, 3.0, self.theory[0]),
            ("theory, at most", THEORY_AT_MOST, LineStyle::Dotted, 1.6, self.theory[1]),
            ("claimed", CLAIMED, LineStyle::Dashed, 1.8, self.claimed),
        ];
        for (name, colour, dash, width, level) in levels {
            if let Some(level) = level {
                let line = LinePlot::new().with_data(ends.map(|x| (x, level))).with_color(colour);
                plots.push(line.with_line_style(dash).with_stroke_width(width).with_legend(name).into());
            }
        }
        let valid: Vec<(f64, f64)> =
            self.found.iter().filter_map(|found| Some((found.observations, found.valid_epsilon?))).collect();
        let found: Vec<(f64, f64)> =
            self.found.iter().map(|found| (found.observations, found.epsilon)).collect();
        for (name, points, dash) in
            [(FOUND, &found, LineStyle::Solid), (VALID, &valid, LineStyle::Custom("4 3".into()))]
        {
            let line = LinePlot::new().with_data(points.iter().copied()).with_color(OBSERVED);
            plots.push(line.with_line_style(dash).with_stroke_width(1.4).with_legend(name).into());
        }
        let deviations = self.found.iter().map(|found| found.standard_deviation);
        let (with, without): (Vec<_>, Vec<_>) =
            found.into_iter().zip(deviations).partition(|(_, deviation)| deviation.is_some());
        let hollow = |points: Vec<(f64, f64)>| {
            let points = ScatterPlot::new().with_data(points).with_color(OBSERVED).with_size(3.5);
            points.with_marker_opacity(0.0).with_marker_stroke_width(1.4).with_legend(FOUND)
        };
        if !with.is_empty() {
            let points = hollow(with.iter().map(|&(point, _)| point).collect());
            plots.push(points.with_y_err(with.iter().map(|&(_, deviation)| deviation.unwrap_or(0.0))).into());
        }
        if !without.is_empty() {
            plots.push(hollow(without.iter().map(|&(point, _)| point).collect()).into());
        }
        for (name, points, colour, marker) in [
            (VALID, valid, OBSERVED, MarkerShape::Diamond),
            (
                "printed in the paper",
                self.printed.iter().map(|&[x, y]| (x, y)).collect(),
                PRINTED,
                MarkerShape::Triangle,
            ),
        ] {
            if !points.is_empty() {
                let points = ScatterPlot::new().with_data(points).with_color(colour).with_marker(marker);
                plots.push(
                    points
                        .with_size(if marker == MarkerShape::Triangle { 5.0 } else { 2.8 })
                        .with_legend(name)
                        .into(),
                );
            }
        }
        plots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(name: &str) -> Sweep {
        let found = |observations, epsilon| Found {
            observations,
            epsilon,
            standard_deviation: Some(0.1),
            valid_epsilon: Some(epsilon - 0.2),
        };
        Sweep {
            name: name.into(),
            found: vec![found(1e5, 2.0), found(1e6, 3.0)],
            printed: vec![[1e9, 4.0]],
            claimed: Some(0.7),
            theory: [Some(4.06); 2],
        }
    }

    #[test]
    fn every_setting_has_a_panel_and_every_mark_its_name() {
        let names = ["one", "two", "three", "four"];
        let figure = SweepFigure {
            title: "More and more".into(),
            remark: Some("5 runs".into()),
            sweeps: names.map(sweep).into(),
        };
        let svg = figure.draw().to_svg();
        for words in names.into_iter().chain(["More and more", "5 runs", "observations", "theory, at least"])
        {
            assert!(svg.contains(words), "{words}");
        }
        for words in ["theory, at most", "claimed", FOUND, VALID, "printed in the paper"] {
            assert_eq!(svg.matches(&format!(">{words}<")).count(), 1, "{words}");
        }
    }

    #[test]
    fn one_number_of_observations_is_drawn_too() {
        let mut one = sweep("one");
        one.found.truncate(1);
        one.printed.clone_from(&Vec::new());
        let [least, most] = padded_decades(one.observations());
        assert!(least < 1e5 && 1e5 < most);
        let figure = SweepFigure { title: String::new(), remark: None, sweeps: vec![one] };
        assert!(figure.draw().to_svg().contains("<circle"));
    }
}
