//! The scores of both worlds, counted in cells.

use crate::style::{CLAIMED, OBSERVED, panel, powers};
use kuva::plot::LinePlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use misdeal_core::estimate::ScoreHistogram;

/// Where cells without scores are drawn on the logarithmic axis.
const NONE: f64 = 0.5;

/// Both worlds as steps.
pub fn lines(scores: &ScoreHistogram) -> Vec<Plot> {
    let worlds = [
        ("scores without the record", CLAIMED, &scores.scores_out),
        ("scores with the record", OBSERVED, &scores.scores_in),
    ];
    worlds
        .map(|(name, colour, counts)| {
            let cells = scores.edges.windows(2).zip(counts);
            let steps = cells.flat_map(|(edges, &count)| {
                let height = (count as f64).max(NONE);
                [(edges[0], height), (edges[1], height)]
            });
            LinePlot::new()
                .with_data(steps)
                .with_color(colour)
                .with_stroke_width(1.6)
                .with_legend(name)
                .into()
        })
        .into()
}

/// The panel that they are drawn on.
pub fn layout(plots: &[Plot]) -> Layout {
    panel(Layout::auto_from_plots(plots), "score (log-likelihood ratio)", "runs")
        .with_log_y()
        .with_y_tick_format(powers())
}
