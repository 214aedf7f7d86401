//! Where a loader deals the records of a file, epoch by epoch.

use crate::drawing::Drawing;
use crate::frame::{Frame, Panel};
use crate::style::{OBSERVED, padded, panel};
use kuva::plot::ScatterPlot;
use kuva::plot::colormap::ColorMap;
use kuva::plot::heatmap::Heatmap;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use misdeal_results::{EpochPositions, PositionSample};

/// Records' positions in the file against their positions in the epoch, a panel for each epoch: a dot for each record, or, where dots would
/// hide each other, how many records lie where.
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

/// Records of an epoch that are drawn as dots, at most.
const MOST_DOTS: usize = 1000;
/// Records in a cell, on average, if they lie evenly.
const IN_A_CELL: usize = 4;

impl PositionsFigure {
    /// Lays the figure out.
    pub fn draw(&self) -> Drawing {
        let panels: Vec<Panel> = self.positions.epochs.iter().map(|epoch| self.panel(epoch)).collect();
        let columns = panels.len();
        let are_cells = self.positions.epochs.iter().any(|epoch| epoch.points.len() > MOST_DOTS);
        let remark = are_cells.then_some("colour: records in a cell, of those that are shown");
        Frame { title: &self.title, remark, columns, cell: [420.0, 400.0], panels }.draw()
    }

    fn panel(&self, EpochPositions { epoch, points }: &EpochPositions) -> Panel {
        let lengths =
            [self.positions.epoch_length, self.positions.dataset_size].map(|size| size.max(1) as f64);
        let plot: Plot = if points.len() <= MOST_DOTS {
            let dots = points.iter().map(|&[record, place]| (place as f64, record as f64));
            ScatterPlot::new().with_data(dots).with_color(OBSERVED).with_size(1.6).into()
        } else {
            let map = Heatmap::new().with_data(cells(points, lengths)).with_color_map(ColorMap::Blues);
            map.with_x_range(0.0, lengths[0]).with_y_range(0.0, lengths[1]).with_cell_size(1.0).into()
        };
        let plots = vec![plot];
        let label = format!("position in epoch {epoch}");
        let [[left, right], [foot, top]] = lengths.map(|length| padded([0.0, length]));
        let layout = panel(Layout::auto_from_plots(&plots), &label, "position in the file")
            .with_x_axis_min(left)
            .with_x_axis_max(right)
            .with_y_axis_min(foot)
            .with_y_axis_max(top);
        Panel { plots, layout }
    }
}

/// How many records lie in each cell: rows by position in the file, columns by position in the epoch.
fn cells(points: &[[u64; 2]], [epoch_length, dataset_size]: [f64; 2]) -> Vec<Vec<f64>> {
    let side = (points.len() / IN_A_CELL).isqrt().max(1);
    let cell = |position: u64, length: f64| ((position as f64 / length * side as f64) as usize).min(side - 1);
    let mut cells = vec![vec![0.0; side]; side];
    for &[record, place] in points {
        cells[cell(record, dataset_size)][cell(place, epoch_length)] += 1.0;
    }
    cells
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

    #[test]
    fn many_records_are_counted_in_cells() {
        let points: Vec<[u64; 2]> = (0..1600).map(|place| [place, place]).collect();
        let counted = cells(&points, [1600.0, 1600.0]);
        assert_eq!(counted.len(), 20);
        for (row, counts) in counted.iter().enumerate() {
            assert_eq!(counts[row], 80.0, "a fixed order is the diagonal");
            assert_eq!(counts.iter().sum::<f64>(), 80.0);
        }
        let epochs = vec![EpochPositions { epoch: 0, points }];
        let positions = PositionSample { dataset_size: 1600, epoch_length: 1600, epochs };
        let svg = PositionsFigure { title: "A log".into(), positions }.draw().to_svg();
        assert!(!svg.contains("<circle") && svg.matches("<rect").count() > 400, "cells, not dots");
    }
}
