//! Draws one chart of a figure: title, axes, grid and series.

use super::font::{self, shortened, wrapped};
use super::labels;
use super::scale::Scale;
use super::svg::{Anchor, GRID, INK, SOFT, Svg, path};
use crate::chart::{Chart, Draw};

const TITLE: f64 = 13.0;
const NOTE: f64 = 11.0;
const LABEL: f64 = 12.5;
const TICK: f64 = 11.0;
const TICKS_UPWARDS: usize = 7;
/// The largest width of row names.
const WIDEST_NAME: f64 = 360.0;
/// The height below the axis: ticks, axis label, and space between panels.
pub const FOOT: f64 = 52.0;
/// Space for marks at the ends of an axis.
const OVERHANG: f64 = 7.0;

/// A chart and the position of its plot.
pub struct Panel<'a> {
    pub chart: &'a Chart,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    pub x: Scale,
    pub y: Scale,
    /// The scale of marks; 1 is full size.
    pub size: f64,
}

impl<'a> Panel<'a> {
    /// A panel for `chart`. Its plot begins at `left`, `top` and has this width and height.
    pub fn new(chart: &'a Chart, [left, top, width, height]: [f64; 4], size: f64) -> Self {
        let [right, bottom] = [left + width, top + height];
        let ends = chart.domains();
        let rows = chart.y.rows.len() as f64;
        let y = if chart.y.rows.is_empty() {
            Scale { ends: ends[1], places: [bottom, top], log: chart.y.log }
        } else {
            Scale { ends: [-0.5, rows - 0.5], places: [top, bottom], log: false }
        };
        let x = Scale { ends: ends[0], places: [left, right], log: chart.x.log };
        Panel { chart, left, right, top, bottom, x, y, size }
    }

    /// The width of the labels left of a chart.
    pub fn margin(chart: &Chart) -> f64 {
        let rows = chart.y.rows.iter().enumerate().filter(|(i, _)| !chart.y.headings.contains(i));
        let names = rows.map(|(_, name)| font::width(name, TICK)).fold(0.0, f64::max);
        if !chart.y.rows.is_empty() {
            return names.min(WIDEST_NAME) + 14.0;
        }
        let panel = Panel::new(chart, [0.0, 0.0, 300.0, 300.0], 1.0);
        let ticks = panel.y.ticks(TICKS_UPWARDS).into_iter().map(|(_, words)| font::width(&words, TICK));
        ticks.fold(0.0, f64::max) + 12.0 + 1.6 * LABEL
    }

    /// The height of a chart's title and note, above the plot.
    pub fn head(chart: &Chart, width: f64) -> f64 {
        let height = |text: &str, size: f64| wrapped(text, width, size).len() as f64 * 1.3 * size;
        height(&chart.title, TITLE) + height(&chart.note, NOTE) + 10.0
    }

    /// The height of one row.
    pub fn step(&self) -> f64 {
        (self.bottom - self.top) / self.chart.y.rows.len().max(1) as f64
    }

    /// Draws the whole panel. The column of labels begins at `start`.
    pub fn draw(&self, svg: &mut Svg, start: f64) {
        self.title(svg);
        self.axes(svg, start);
        let width = self.right - self.left + 2.0 * OVERHANG;
        let height = self.bottom - self.top + 4.0;
        svg.clipped([self.left - OVERHANG, self.top - 2.0, width, height], |svg| {
            self.chart.series.iter().for_each(|series| self.series(svg, series));
            labels::draw(svg, self);
        });
        let corner = [[self.left, self.top], [self.left, self.bottom], [self.right, self.bottom]];
        svg.stroke(&path(corner), SOFT, 1.0, "");
    }

    fn title(&self, svg: &mut Svg) {
        let (middle, width) = (f64::midpoint(self.left, self.right), self.right - self.left);
        let mut y = self.top - Self::head(self.chart, width);
        for (text, size, colour) in [(&self.chart.title, TITLE, INK), (&self.chart.note, NOTE, SOFT)] {
            for line in wrapped(text, width, size) {
                y += 1.3 * size;
                svg.text(&line, [middle, y], size, colour, Anchor::Middle);
            }
        }
    }

    fn axes(&self, svg: &mut Svg, start: f64) {
        let Panel { left, right, top, bottom, chart, .. } = *self;
        let room = if self.x.log { 40.0 } else { 54.0 };
        for (tick, words) in self.x.ticks(((right - left) / room) as usize) {
            let x = self.x.place(tick);
            svg.stroke(&path([[x, top], [x, bottom]]), GRID, 1.0, "");
            svg.text(&words, [x, bottom + 16.0], TICK, SOFT, Anchor::Middle);
        }
        if chart.y.rows.is_empty() {
            for (tick, words) in self.y.ticks(TICKS_UPWARDS) {
                let y = self.y.place(tick);
                svg.stroke(&path([[left, y], [right, y]]), GRID, 1.0, "");
                svg.text(&words, [left - 7.0, y + 4.0], TICK, SOFT, Anchor::End);
            }
            svg.upwards([start + LABEL, f64::midpoint(top, bottom)], |svg| {
                svg.text(&chart.y.label, [0.0, 0.0], LABEL, INK, Anchor::Middle);
            });
        } else {
            self.rows(svg, start);
        }
        svg.text(&chart.x.label, [f64::midpoint(left, right), bottom + 36.0], LABEL, INK, Anchor::Middle);
    }

    fn rows(&self, svg: &mut Svg, start: f64) {
        let rows = &self.chart.y;
        let has_cells = self.chart.series.iter().any(|series| series.draw == Draw::Cells);
        for (i, name) in rows.rows.iter().enumerate() {
            let y = self.y.place(i as f64);
            let edge = y - self.step() / 2.0;
            if i > 0 && !has_cells {
                svg.stroke(&path([[self.left, edge], [self.right, edge]]), GRID, 1.0, "");
            }
            if rows.headings.contains(&i) {
                let words = shortened(name, self.right - start, TICK);
                svg.text(&words, [start, y + 4.0], TICK, INK, Anchor::Start);
            } else {
                let words = shortened(name, WIDEST_NAME, TICK);
                svg.text(&words, [self.left - 10.0, y + 4.0], TICK, SOFT, Anchor::End);
            }
        }
    }
}
