//! Where a loader deals the records of a file, epoch by epoch.

use crate::drawing::Drawing;
use crate::style::{OBSERVED, panel, title_size};
use kuva::plot::ScatterPlot;
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use misdeal_core::{EpochPositions, PositionSample};

/// A dot for each record shown: its position in the file against its position in the epoch, a panel for each epoch.
///
/// A full shuffle fills the panel evenly, a fixed order is the diagonal, blocks are squares along it, a sliding buffer is a band with a
/// sharp upper edge, and what is reused looks alike in all panels.
#[derive(Debug, Clone, PartialEq)]
pub struct PositionsFigure {
    /// What stands above.
    pub title: String,
    /// Where records were dealt.
    pub positions: PositionSample,
}

impl PositionsFigure {
    /// Lays the figure out.
    pub fn draw(&self) -> Drawing {
        let mut plots = Vec::new();
        let mut layouts = Vec::new();
        for EpochPositions { epoch, points } in &self.positions.epochs {
            let dots = points.iter().map(|&[record, place]| (place as f64, record as f64));
            let plot: Vec<Plot> =
                vec![ScatterPlot::new().with_data(dots).with_color(OBSERVED).with_size(1.3).into()];
            let label = format!("position in epoch {epoch}");
            let layout = panel(Layout::auto_from_plots(&plot), &label, "position in the file")
                .with_x_axis_min(0.0)
                .with_x_axis_max(self.positions.epoch_length as f64)
                .with_y_axis_min(0.0)
                .with_y_axis_max(self.positions.dataset_size as f64);
            plots.push(plot);
            layouts.push(layout);
        }
        let panels = plots.len().max(1);
        let figure = Figure::new(1, panels)
            .with_title(self.title.as_str())
            .with_title_size(title_size(&self.title, 420.0 * panels as f64))
            .with_plots(plots)
            .with_layouts(layouts)
            .with_cell_size(420.0, 400.0);
        Drawing(figure.render())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    #[test]
    fn every_epoch_has_a_panel_with_its_dots() {
        let points = |step: u64| (0..50).map(|place| [place * step % 50, place]).collect::<Vec<_>>();
        let positions = PositionSample {
            dataset_size: 50,
            epoch_length: 50,
            epochs: [(3, 1), (7, 7)]
                .map(|(epoch, step)| EpochPositions { epoch, points: points(step) })
                .into(),
        };
        let figure = PositionsFigure { title: "A <log>".into(), positions };
        let svg = figure.draw().to_svg();
        for words in ["A &lt;log&gt;", "position in epoch 3", "position in epoch 7", "position in the file"] {
            assert!(svg.contains(words), "{words}");
        }
        assert!(svg.matches("<circle").count() >= 100, "{}", svg.matches("<circle").count());
        assert_eq!(&figure.draw().to_bytes(Format::Png).unwrap()[1..4], b"PNG");
    }
}
