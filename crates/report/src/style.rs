//! Colours, dashes and axes that all figures share.

use kuva::plot::LineStyle;
use kuva::render::layout::{Layout, TickFormat};
use misdeal_results::numbers::significant;
use std::sync::Arc;

/// What was found or observed.
pub const OBSERVED: &str = "#0072B2";
/// What is claimed, and the world without the record.
pub const CLAIMED: &str = "#D55E00";
/// What theory knows.
pub const THEORY: &str = "#009E73";
/// What was printed elsewhere.
pub const PRINTED: &str = "#CC79A7";
/// What helps to read a value off an axis.
pub const GRID: &str = "#CCCCCC";

/// Colours and dashes of promised curves, in the order in which they are used.
const PROMISED: [(&str, &str); 6] = [
    ("#D55E00", "8 4"),
    ("#009E73", "8 4 2 4"),
    ("#CC79A7", "2 4"),
    ("#E69F00", "14 4"),
    ("#56B4E9", "10 3 2 3 2 3"),
    ("#000000", "4 2"),
];

/// The colour and dash of the promised curve at `place`.
pub fn promised(place: usize) -> (&'static str, LineStyle) {
    let (colour, dashes) = PROMISED[place % PROMISED.len()];
    (colour, LineStyle::Custom(dashes.into()))
}

/// What theory knows at most, over what it knows at least where both are the same.
pub const THEORY_AT_MOST: &str = "#000000";

/// What the estimate of a reproduction is called that is the largest over all thresholds.
pub const FOUND: &str = "found here, maximum over thresholds (no guarantee)";
/// What the bound of a reproduction is called that holds as stated.
pub const VALID: &str = "found here, valid at 95 %";

/// A range with room for the marks at its ends.
pub fn padded([least, most]: [f64; 2]) -> [f64; 2] {
    let room = if most > least { 0.04 * (most - least) } else { 0.5 * most.abs().max(1.0) };
    [least - room, most + room]
}

/// The same of a logarithmic axis.
pub fn padded_decades(range: [f64; 2]) -> [f64; 2] {
    padded(range.map(f64::log10)).map(|power| 10_f64.powf(power))
}

/// Words for the ticks of a logarithmic axis over this range, all in one notation: of its powers of ten alone, but where there are too
/// few of them.
pub fn log_ticks([least, most]: [f64; 2]) -> TickFormat {
    let powers = most.log10().floor() - least.log10().ceil() + 1.0;
    let is_plain = least >= 1e-3 && most < 2e4;
    TickFormat::Custom(Arc::new(move |value| {
        let power = value.log10();
        let enough = if is_plain { 3.0 } else { 2.0 };
        if powers >= enough && (power - power.round()).abs() > 1e-9 {
            String::new()
        } else if is_plain {
            significant(value)
        } else {
            format!("{value:.0e}")
        }
    }))
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

/// A panel's x-axis on which powers of ten are evenly spaced.
pub fn log_x(layout: Layout, range: [f64; 2]) -> Layout {
    layout
        .with_log_x()
        .with_x_axis_min(range[0])
        .with_x_axis_max(range[1])
        .with_x_tick_format(log_ticks(range))
}

/// The same of the y-axis.
pub fn log_y(layout: Layout, range: [f64; 2]) -> Layout {
    layout
        .with_log_y()
        .with_y_axis_min(range[0])
        .with_y_axis_max(range[1])
        .with_y_tick_format(log_ticks(range))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_an_axis_are_in_one_notation() {
        let words = |range: [f64; 2], values: &[f64]| -> Vec<String> {
            values.iter().map(|&value| log_ticks(range).format(value)).collect()
        };
        assert_eq!(words([1e-4, 1.0], &[1e-4, 2e-3, 5e-3, 1e-2]), ["1e-4", "", "", "1e-2"]);
        assert_eq!(words([0.8, 2000.0], &[1.0, 2.0, 100.0]), ["1", "", "100"]);
        assert_eq!(words([0.8, 30.0], &[1.0, 2.0, 5.0, 10.0]), ["1", "2", "5", "10"]);
        assert_eq!(words([9e4, 4e5], &[1e5, 2e5]), ["1e5", "2e5"]);
    }

    #[test]
    fn marks_at_the_ends_have_room() {
        for range in [[1.0, 400.0], [0.0, 3.0], [2.0, 2.0]] {
            let [low, high] = padded(range);
            assert!(low < range[0] && range[1] < high, "{range:?}");
        }
        let [low, high] = padded_decades([1.0, 1.0]);
        assert!(0.0 < low && low < 1.0 && high > 1.0);
    }
}
