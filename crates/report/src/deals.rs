//! Where the records of a small file are dealt (the paper's Figures 8 and 10).

use crate::drawing::Drawing;
use crate::frame::{Frame, Panel};
use crate::style::{OBSERVED, panel, promised};
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{BarPlot, LinePlot, LineStyle, ScatterPlot};
use kuva::render::annotations::TextAnnotation;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

/// What records are called, in the order of the file: `xT` is the target, the others are counted as in the paper.
pub fn record_names(records: usize, target: u64) -> Vec<String> {
    let mut others = 1..;
    (0..records as u64)
        .map(
            |record| {
                if record == target { "xT".into() } else { format!("x{}", others.next().unwrap_or_default()) }
            },
        )
        .collect()
}

/// A few epochs of one scheme.
#[derive(Debug, Clone, PartialEq)]
pub struct DealPanels {
    /// What is dealt.
    pub name: String,
    /// The target's place in the file.
    pub target: u64,
    /// What records are called, in the order of the file.
    pub records: Vec<String>,
    /// Records that are permuted together; none where there is no buffer.
    pub buffer_size: Option<u64>,
    /// Records in a batch.
    pub batch_size: u64,
    /// Epochs of batches of records.
    pub epochs: Vec<Vec<Vec<u64>>>,
    /// The share of many epochs that had the target in each batch.
    pub target_shares: Vec<f64>,
    /// The share of many epochs that had each record in the target's batch.
    pub company_shares: Vec<f64>,
}

/// A row for each scheme: the file and some epochs, where the target goes, and who shares its batch.
#[derive(Debug, Clone, PartialEq)]
pub struct DealsFigure {
    /// What stands above.
    pub title: String,
    /// The schemes.
    pub deals: Vec<DealPanels>,
}

/// The colour of records that are not the target.
const OTHERS: &str = "#56B4E9";

impl DealsFigure {
    /// Lays the figure out.
    pub fn draw(&self) -> Drawing {
        let panels =
            self.deals.iter().flat_map(|deal| [deal.boxes(), deal.target_bars(), deal.company_bars()]);
        let frame = Frame {
            title: &self.title,
            remark: None,
            columns: 3,
            cell: [400.0, 260.0],
            panels: panels.map(|(plots, layout)| Panel { plots, layout }).collect(),
        };
        frame.draw()
    }
}

impl DealPanels {
    /// The file above, its epochs below; lines between batches, and in the file between buffers.
    fn boxes(&self) -> (Vec<Plot>, Layout) {
        let rows = self.epochs.len() + 1;
        let height = |row: usize| (rows - row) as f64;
        let file: Vec<u64> = (0..self.records.len() as u64).collect();
        let orders = std::iter::once(file).chain(self.epochs.iter().map(|epoch| epoch.concat()));
        let mut labels = Vec::new();
        let (mut targets, mut others) = (Vec::new(), Vec::new());
        for (row, order) in orders.enumerate() {
            for (place, record) in order.into_iter().enumerate() {
                let point = (place as f64 + 1.0, height(row));
                let marks = if record == self.target { &mut targets } else { &mut others };
                marks.push(point);
                let name = self.records.get(record as usize).map_or("", String::as_str);
                labels.push(TextAnnotation::new(name, point.0, point.1 - 0.22).with_font_size(12));
            }
        }
        let squares = |points, colour| -> Plot {
            let plot = ScatterPlot::new().with_data::<f64, f64, Vec<(f64, f64)>>(points);
            plot.with_color(colour).with_marker(MarkerShape::Square).with_size(12.0).into()
        };
        let mut plots = vec![squares(others, OTHERS), squares(targets, promised(0).0)];
        let dashes = |row: usize, width: u64, style: LineStyle| {
            let (top, foot) = (height(row) + 0.45, height(row) - 0.45);
            let edges = (0..=self.records.len() as u64).step_by(width.max(1) as usize);
            edges.map(move |edge| -> Plot {
                let x = edge as f64 + 0.5;
                let line = LinePlot::new().with_data([(x, foot), (x, top)]).with_color("black");
                line.with_line_style(style.clone()).with_stroke_width(1.4).into()
            })
        };
        plots.extend(self.buffer_size.into_iter().flat_map(|size| dashes(0, size, LineStyle::Dashed)));
        for row in 1..rows {
            plots.extend(dashes(row, self.batch_size, LineStyle::Solid));
        }
        let names = (1..rows).rev().map(|epoch| format!("epoch {epoch}")).chain(["file".into()]).collect();
        let places = (1..=self.records.len()).map(|place| place.to_string()).collect();
        let layout = panel(Layout::auto_from_plots(&plots), "position", "")
            .with_show_grid(false)
            .with_title(self.name.as_str())
            .with_title_size(13)
            .with_x_categories(places)
            .with_x_axis_min(0.4)
            .with_x_axis_max(self.records.len() as f64 + 0.6)
            .with_y_axis_min(0.5)
            .with_y_axis_max(rows as f64 + 0.5)
            .with_y_categories(names);
        (plots, labels.into_iter().fold(layout, Layout::with_annotation))
    }

    fn target_bars(&self) -> (Vec<Plot>, Layout) {
        let bars = (1..).zip(&self.target_shares).map(|(batch, &share): (u64, _)| (batch.to_string(), share));
        shares(bars, promised(0).0, "batch", "where the target is dealt")
    }

    fn company_bars(&self) -> (Vec<Plot>, Layout) {
        let named = (0_u64..).zip(self.records.iter().zip(&self.company_shares));
        let others = named.filter(|&(record, _)| record != self.target);
        let bars = others.map(|(_, (name, &share))| (name.clone(), share));
        shares(bars, OBSERVED, "record", "who shares its batch")
    }
}

/// Bars between 0 and 1.
fn shares(
    bars: impl Iterator<Item = (String, f64)>,
    colour: &str,
    x_label: &str,
    title: &str,
) -> (Vec<Plot>, Layout) {
    let plots: Vec<Plot> = vec![BarPlot::new().with_bars(bars).with_color(colour).into()];
    let layout = panel(Layout::auto_from_plots(&plots), x_label, "share of epochs")
        .with_y_axis_min(0.0)
        .with_y_axis_max(1.0)
        .with_title(title)
        .with_title_size(13);
    (plots, layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    #[test]
    fn every_record_is_drawn_in_the_file_and_in_each_epoch() {
        let deal = DealPanels {
            name: "a <scheme>".into(),
            target: 0,
            records: ["xT", "x1", "x2", "x3"].map(String::from).into(),
            buffer_size: Some(2),
            batch_size: 2,
            epochs: vec![vec![vec![1, 0], vec![2, 3]], vec![vec![0, 1], vec![3, 2]]],
            target_shares: vec![1.0, 0.0],
            company_shares: vec![1.0, 1.0, 0.0, 0.0],
        };
        let figure = DealsFigure { title: "Records move".into(), deals: vec![deal] };
        let svg = figure.draw().to_svg();
        for words in ["Records move", "a &lt;scheme&gt;", "epoch 2", "file", "share of epochs", "batch"] {
            assert!(svg.contains(words), "{words}");
        }
        let drawn = |name: &str| svg.matches(&format!(">{name}<")).count();
        // The bars name all but the target once more.
        assert_eq!(["xT", "x1", "x2", "x3"].map(drawn), [3, 4, 4, 4]);
        assert_eq!(&figure.draw().to_bytes(Format::Png).unwrap()[1..4], b"PNG");
    }
}
