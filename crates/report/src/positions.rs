//! Where a loader deals the records of a file, epoch by epoch.

use crate::drawing::Drawing;
use crate::frame::{Frame, Panel};
use crate::style::{OBSERVED, padded, panel};
use kuva::plot::ScatterPlot;
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
        let panels: Vec<Panel> = self.positions.epochs.iter().map(|epoch| self.panel(epoch)).collect();
        let columns = panels.len();
        Frame { title: &self.title, remark: None, columns, cell: [420.0, 400.0], panels }.draw()
    }

    fn panel(&self, EpochPositions { epoch, points }: &EpochPositions) -> Panel {
        let dots = points.iter().map(|&[record, place]| (place as f64, record as f64));
        let plots: Vec<Plot> =
            vec![ScatterPlot::new().with_data(dots).with_color(OBSERVED).with_size(1.3).into()];
        let label = format!("position in epoch {epoch}");
        let [[left, right], [foot, top]] =
            [self.positions.epoch_length, self.positions.dataset_size].map(|size| padded([0.0, size as f64]));
        let layout = panel(Layout::auto_from_plots(&plots), &label, "position in the file")
            .with_x_axis_min(left)
            .with_x_axis_max(right)
            .with_y_axis_min(foot)
            .with_y_axis_max(top);
        Panel { plots, layout }
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
