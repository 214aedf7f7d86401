//! Charts of where a loader places the records of a file in each epoch.

use crate::chart::{Axis, Chart, Draw, Role, Series};
use misdeal_results::{EpochPositions, PositionSample};

/// The most records of an epoch that are drawn as dots.
const MOST_DOTS: usize = 1000;
/// The average number of records in a cell if they lie evenly.
const IN_A_CELL: usize = 4;

const CAPTION: &str = "A full shuffle fills the square evenly, a fixed order is the diagonal, blocks are squares along it, a sliding buffer is a \
                       band with a sharp edge, and what is reused looks alike in all epochs.";

/// A chart for each epoch: records' positions in the file against their positions in the epoch.
///
/// Each record is a dot. With too many records for dots, cells show how many records lie in each.
pub fn charts(positions: &PositionSample) -> Vec<Chart> {
    let lengths = [positions.epoch_length, positions.dataset_size].map(|size| size.max(1) as f64);
    let chart = |EpochPositions { epoch, points }: &EpochPositions| {
        let series = if points.len() <= MOST_DOTS {
            let dots = points.iter().map(|&[record, place]| [place as f64, record as f64]);
            Series::new("records", Role::Found, Draw::Dots, dots)
        } else {
            Series::new(
                "records in a cell, of those that are shown",
                Role::Found,
                Draw::Cells,
                cells(points, lengths),
            )
        };
        let label = format!("position in epoch {epoch}");
        let axes = [(label.as_str(), lengths[0]), ("position in the file", lengths[1])];
        let axes = axes.map(|(label, length)| Axis::between(label, 0.0, length));
        let note = match series.draw {
            Draw::Cells => format!("darkest cell: {} records", series.largest_cell()),
            _ => String::new(),
        };
        let chart =
            Chart::new(format!("Where records were dealt, epoch {epoch}"), CAPTION, axes, vec![series]);
        Chart { note, ..chart }
    };
    positions.epochs.iter().map(chart).collect()
}

/// The cells with records in them, each with its count.
fn cells(points: &[[u64; 2]], lengths: [f64; 2]) -> Vec<[f64; 5]> {
    let side = (points.len() / IN_A_CELL).isqrt().max(1);
    let cell = |position: u64, length: f64| ((position as f64 / length * side as f64) as usize).min(side - 1);
    let mut counts = vec![0_u32; side * side];
    for &[record, place] in points {
        counts[cell(place, lengths[0]) * side + cell(record, lengths[1])] += 1;
    }
    let edge = |i: usize, length: f64| i as f64 * length / side as f64;
    let filled = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
    let cells = filled.map(|(i, count)| {
        let (x, y) = (i / side, i % side);
        let [left, right] = [x, x + 1].map(|i| edge(i, lengths[0]));
        let [foot, top] = [y, y + 1].map(|i| edge(i, lengths[1]));
        [left, right, foot, top, f64::from(count)]
    });
    cells.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_epoch_has_a_chart_with_its_dots() {
        let points = |step: u64| (0..50).map(|place| [place * step % 50, place]).collect::<Vec<_>>();
        let epochs = [(3, 1), (7, 7)].map(|(epoch, step)| EpochPositions { epoch, points: points(step) });
        let charts = charts(&PositionSample { dataset_size: 50, epoch_length: 50, epochs: epochs.into() });
        let drawn: Vec<_> =
            charts.iter().map(|chart| (chart.x.label.as_str(), chart.series[0].points.len())).collect();
        assert_eq!(drawn, [("position in epoch 3", 50), ("position in epoch 7", 50)]);
        assert_eq!(charts[1].series[0].points[2], [2.0, 14.0]);
    }

    #[test]
    fn many_records_are_counted_in_cells() {
        let points: Vec<[u64; 2]> = (0..1600).map(|place| [place, place]).collect();
        let cells = cells(&points, [1600.0, 1600.0]);
        let expected: Vec<[f64; 5]> = (0..20)
            .map(|i| [80.0 * f64::from(i), 80.0 * f64::from(i + 1)])
            .map(|[a, b]| [a, b, a, b, 80.0])
            .collect();
        assert_eq!(cells, expected, "a fixed order is the diagonal");
    }
}
