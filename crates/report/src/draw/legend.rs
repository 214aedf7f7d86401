//! The legend of a figure, with one entry for each kind of series.

use super::font;
use super::marks::{REGION, arrow, mark};
use super::svg::{Anchor, INK, Svg};
use crate::chart::{Chart, Draw, Series};

const SIZE: f64 = 12.0;
const ROW: f64 = 20.0;
/// The length of a sample. It holds two rounds of every dash pattern.
const SAMPLE: f64 = 44.0;
/// The space between a sample and its text, and between columns.
const GAP: f64 = 10.0;

/// Draws the legend of `charts` from `top` down, in as many columns as fit. Returns its height.
pub fn draw(svg: &mut Svg, charts: &[Chart], width: f64, top: f64) -> f64 {
    let mut entries: Vec<&Series> = Vec::new();
    for series in charts.iter().flat_map(|chart| &chart.series) {
        let is_the_same = |other: &&Series| {
            (&other.name, other.role, other.draw, &other.dash)
                == (&series.name, series.role, series.draw, &series.dash)
        };
        if !entries.iter().any(is_the_same) {
            entries.push(series);
        }
    }
    let widest = entries.iter().map(|entry| font::width(&entry.name, SIZE)).fold(0.0, f64::max);
    let column = SAMPLE + 3.0 * GAP + widest;
    let fitting = ((width / column) as usize).clamp(1, entries.len().max(1));
    let rows = entries.len().div_ceil(fitting);
    let columns = entries.len().div_ceil(rows.max(1));
    let left = ((width - column * columns as f64) / 2.0 + GAP).max(GAP);
    for (i, entry) in entries.iter().enumerate() {
        let x = left + column * (i / rows) as f64;
        let y = top + ROW * ((i % rows) as f64 + 0.5);
        sample(svg, entry, [x, y]);
        svg.text(&entry.name, [x + SAMPLE + GAP, y + 4.0], SIZE, INK, Anchor::Start);
    }
    ROW * rows as f64
}

/// Draws a sample of a series, from `x` rightwards at height `y`.
fn sample(svg: &mut Svg, series: &Series, [x, y]: [f64; 2]) {
    let colour = series.role.colour();
    let middle = [x + SAMPLE / 2.0, y];
    let end = x + SAMPLE;
    let swatch = [x + 8.0, y - 5.0, SAMPLE - 16.0, 10.0];
    match series.draw {
        Draw::Line | Draw::Rule | Draw::Strokes => {
            svg.stroke(&format!("M{x} {y}H{end}"), colour, 2.0, &series.dash);
        }
        Draw::Marked | Draw::Spaced => {
            svg.stroke(&format!("M{x} {y}H{end}"), colour, 1.6, &series.dash);
            mark(svg, series, middle, 0.8);
        }
        Draw::Marks | Draw::AtLeast | Draw::AtMost => {
            arrow(svg, series, middle);
            mark(svg, series, middle, 1.0);
        }
        Draw::Dots => svg.dot(middle, 3.5, colour),
        Draw::Bars | Draw::Cells => svg.rectangle(swatch, colour),
        Draw::Band => svg.region(&format!("M{} {}h28v10h-28z", swatch[0], swatch[1]), colour, REGION),
        Draw::Steps => {
            svg.region(&format!("M{} {}h28v10h-28z", swatch[0], swatch[1]), colour, REGION);
            svg.stroke(&format!("M{} {}H{}", x + 8.0, y - 5.0, end - 8.0), colour, 1.6, "");
        }
    }
}
