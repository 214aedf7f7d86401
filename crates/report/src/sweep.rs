//! Epsilon against the number of observations, with theory's lines (the paper's Figure 3).

use crate::drawing::Drawing;
use crate::style::{OBSERVED, panel, powers, promised, title_size};
use kuva::plot::{LinePlot, LineStyle};
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

/// One setting with more and more observations.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// What was audited.
    pub name: String,
    /// Observations and what was found with them, ascending.
    pub found: Vec<[f64; 2]>,
    /// Epsilons that do not depend on the number of observations, by name.
    pub levels: Vec<(String, f64)>,
}

/// A panel for each setting.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepFigure {
    /// What stands above.
    pub title: String,
    /// The settings.
    pub sweeps: Vec<Sweep>,
}

impl SweepFigure {
    /// Lays the figure out, three panels in a row.
    pub fn draw(&self) -> Drawing {
        let columns = self.sweeps.len().clamp(1, 3);
        let rows = self.sweeps.len().div_ceil(columns);
        let panels: Vec<Vec<Plot>> = self.sweeps.iter().map(Sweep::lines).collect();
        let layouts = self.sweeps.iter().zip(&panels).map(|(sweep, plots)| {
            panel(Layout::auto_from_plots(plots), "observations", "epsilon")
                .with_log_x()
                .with_x_tick_format(powers())
                .with_y_axis_min(0.0)
                .with_title(sweep.name.as_str())
                .with_title_size(13)
        });
        let figure = Figure::new(rows, columns)
            .with_title(self.title.as_str())
            .with_title_size(title_size(&self.title, 340.0 * columns as f64))
            .with_layouts(layouts.collect())
            .with_plots(panels)
            .with_cell_size(340.0, 280.0)
            .with_shared_legend_bottom();
        Drawing(figure.render())
    }
}

impl Sweep {
    fn lines(&self) -> Vec<Plot> {
        let found = LinePlot::new().with_data(self.found.iter().map(|&[x, y]| (x, y))).with_color(OBSERVED);
        let mut plots: Vec<Plot> = vec![found.with_stroke_width(2.2).with_legend("found here").into()];
        let ends = [self.found.first(), self.found.last()].map(|point| point.map_or(1.0, |&[x, _]| x));
        for (i, (name, level)) in self.levels.iter().enumerate() {
            let (colour, dash): (_, LineStyle) = promised(i);
            let line = LinePlot::new().with_data(ends.map(|x| (x, *level))).with_color(colour);
            plots.push(line.with_line_style(dash).with_stroke_width(1.8).with_legend(name.as_str()).into());
        }
        plots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_a_panel() {
        let sweep = |name: &str| Sweep {
            name: name.into(),
            found: vec![[1e5, 2.0], [1e6, 3.0]],
            levels: vec![("shuffle, at least".into(), 4.06)],
        };
        let names = ["one", "two", "three", "four"];
        let figure = SweepFigure { title: "More and more".into(), sweeps: names.map(sweep).into() };
        let svg = figure.draw().to_svg();
        for words in names.into_iter().chain(["More and more", "observations", "shuffle, at least"]) {
            assert!(svg.contains(words), "{words}");
        }
    }
}
