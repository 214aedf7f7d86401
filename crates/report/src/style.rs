//! Colours, dashes and axes that all figures share.

use kuva::plot::LineStyle;
use kuva::render::layout::Layout;

/// The observed curve.
pub const OBSERVED: &str = "#0072B2";

/// Colours and dashes of promised curves, in the order in which they are used.
const PROMISED: [(&str, LineStyle); 6] = [
    ("#D55E00", LineStyle::Dashed),
    ("#009E73", LineStyle::DashDot),
    ("#CC79A7", LineStyle::Dotted),
    ("#E69F00", LineStyle::Dashed),
    ("#56B4E9", LineStyle::DashDot),
    ("#000000", LineStyle::Dotted),
];

/// The colour and dash of the promised curve at `place`.
pub fn promised(place: usize) -> (&'static str, LineStyle) {
    PROMISED[place % PROMISED.len()].clone()
}

/// A panel with labelled axes.
pub fn panel(layout: Layout, x_label: &str, y_label: &str) -> Layout {
    layout
        .with_x_label(x_label)
        .with_y_label(y_label)
        .with_label_size(13)
        .with_tick_size(11)
        .with_show_grid(true)
}
