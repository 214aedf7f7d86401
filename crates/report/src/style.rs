//! Colours, dashes and axes that all figures share.

use kuva::plot::LineStyle;
use kuva::render::layout::{Layout, TickFormat};
use std::sync::Arc;

/// What was found or observed.
pub const OBSERVED: &str = "#0072B2";
/// What is claimed, and the world without the record.
pub const CLAIMED: &str = "#D55E00";
/// What theory knows.
pub const THEORY: &str = "#009E73";
/// What was printed elsewhere.
pub const PRINTED: &str = "#CC79A7";

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

/// The size at which a title fits above a figure of this width.
pub fn title_size(title: &str, width: f64) -> u32 {
    // A letter is a little wider than half its height.
    let fitting = width / (0.56 * title.chars().count().max(1) as f64);
    fitting.clamp(7.0, 15.0) as u32
}

/// Numbers of observations: 1e6 rather than 1000000.
pub fn powers() -> TickFormat {
    TickFormat::Custom(Arc::new(|value| if value < 1e5 { value.to_string() } else { format!("{value:e}") }))
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
