//! Draws series in a panel.

use super::panel::Panel;
use super::svg::{Anchor, INK, Svg, path};
use crate::chart::{Draw, Role, Series};

/// The opacity of filled regions.
pub const REGION: f64 = 0.2;
/// The most dots drawn at full size. More dots are drawn small, so that they do not hide each other.
const MANY_DOTS: usize = 200;
/// The least width of a bar, so that a bar between equal bounds is visible.
const LEAST_BAR: f64 = 5.0;

/// The distance between marks on a line with spaced marks.
const BETWEEN_MARKS: f64 = 110.0;

/// Points along a line at even distances. The first is `offset` from the line's beginning.
fn spaced(line: &[[f64; 2]], offset: f64) -> Vec<[f64; 2]> {
    let mut places = Vec::new();
    let mut next = offset;
    for pair in line.windows(2) {
        let [[x, y], [u, v]] = [pair[0], pair[1]];
        let long = (u - x).hypot(v - y);
        while long > 0.0 && next <= long {
            places.push([x + (u - x) * next / long, y + (v - y) * next / long]);
            next += BETWEEN_MARKS;
        }
        next -= long;
    }
    places
}

/// Draws a series' mark in its colour. Marks of numbers without a guarantee are hollow.
pub fn mark(svg: &mut Svg, series: &Series, [x, y]: [f64; 2], size: f64) {
    let colour = series.role.colour();
    let [fill, edge] = if series.role == Role::Raw { ["#ffffff", colour] } else { [colour, "#ffffff"] };
    let width = if series.role == Role::Raw { 1.8 } else { 0.8 };
    let place = format!("translate({x:.2} {y:.2}) scale({size})");
    let outline = format!("M0 0{}", series.mark);
    svg.element(
        "path",
        &[
            ("d", &outline),
            ("transform", &place),
            ("fill", &fill),
            ("stroke", &edge),
            ("stroke-width", &width),
        ],
    );
}

/// Draws the arrow of a one-sided bound. Other series get none.
pub fn arrow(svg: &mut Svg, series: &Series, [x, y]: [f64; 2]) {
    let arrow = match series.draw {
        Draw::AtLeast => "h16m-4 -4l4 4l-4 4",
        Draw::AtMost => "h-16m4 -4l-4 4l4 4",
        _ => return,
    };
    svg.stroke(&format!("M{x:.2} {y:.2}{arrow}"), series.role.colour(), 1.8, "");
}

impl Panel<'_> {
    /// Draws a series.
    pub fn series(&self, svg: &mut Svg, series: &Series) {
        let colour = series.role.colour();
        let points = series.points.iter().map(Vec::as_slice);
        let at = |point: &[f64], x: usize, y: usize| [self.x.place(point[x]), self.y.place(point[y])];
        let along = |x, y| path(points.clone().map(|point| at(point, x, y)));
        match series.draw {
            Draw::Line => svg.stroke(&along(0, 1), colour, 2.0, &series.dash),
            Draw::Marked => {
                svg.stroke(&along(0, 1), colour, 1.6, &series.dash);
                points.clone().for_each(|point| mark(svg, series, at(point, 0, 1), 0.8 * self.size));
            }
            Draw::Spaced => {
                svg.stroke(&along(0, 1), colour, 2.0, &series.dash);
                let seen = points.map(|point| at(point, 0, 1)).filter(|&place| self.holds(place));
                for place in spaced(&seen.collect::<Vec<_>>(), self.offset(series)) {
                    mark(svg, series, place, 0.9 * self.size);
                }
            }
            Draw::Marks | Draw::AtLeast | Draw::AtMost => {
                for point in points {
                    let [x, y] = at(point, 0, 1);
                    // What a logarithmic axis has no place for stands at its beginning.
                    let place = [x.max(self.left), y];
                    arrow(svg, series, place);
                    mark(svg, series, place, self.size);
                }
            }
            Draw::Dots => {
                let radius = if series.points.len() > MANY_DOTS { 1.6 } else { 3.5 };
                points.for_each(|point| svg.dot(at(point, 0, 1), radius, colour));
            }
            Draw::Bars => {
                let thick = (0.4 * self.step()).min(24.0);
                for point in points {
                    let ([from, y], [to, _]) = (at(point, 0, 2), at(point, 1, 2));
                    let from = from.max(self.left);
                    let wide = if point[1] > 0.0 { (to - from).max(LEAST_BAR) } else { 0.0 };
                    let x = if to - from < wide { (from + to - wide) / 2.0 } else { from };
                    svg.rectangle([x, y - thick / 2.0, wide, thick], colour);
                }
            }
            Draw::Band => {
                let back = points.clone().rev().map(|point| at(point, 0, 2));
                let outline = path(points.clone().map(|point| at(point, 0, 1)).chain(back));
                svg.region(&outline, colour, REGION);
            }
            Draw::Rule => {
                for x in points.map(|point| self.x.place(point[0])) {
                    svg.stroke(&path([[x, self.top], [x, self.bottom]]), colour, 1.6, &series.dash);
                }
            }
            Draw::Steps => {
                let tops = points.clone().flat_map(|point| [at(point, 0, 2), at(point, 1, 2)]);
                let tops: Vec<_> = tops.map(|[x, y]| [x, y.min(self.bottom)]).collect();
                let feet =
                    [tops.last(), tops.first()].map(|end| [end.map_or(0.0, |end| end[0]), self.bottom]);
                let region = path(tops.iter().copied().chain(feet));
                svg.region(&region, colour, REGION);
                svg.stroke(&path(tops), colour, 1.6, "");
            }
            Draw::Strokes => {
                for point in points {
                    svg.stroke(&path([at(point, 0, 1), at(point, 2, 3)]), colour, 1.4, &series.dash);
                }
            }
            Draw::Cells => self.cells(svg, series),
        }
    }

    /// Whether a point lies in the plot.
    pub fn holds(&self, [x, y]: [f64; 2]) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    /// The distance of a series' first mark from the start of its line. It differs between series, so marks of equal curves do not overlap.
    fn offset(&self, series: &Series) -> f64 {
        let at = self.chart.series.iter().position(|other| std::ptr::eq(other, series)).unwrap_or(0);
        BETWEEN_MARKS * (0.5 + at as f64 / self.chart.series.len() as f64).fract()
    }

    /// Draws cells and their labels, if any. Larger values are darker.
    fn cells(&self, svg: &mut Svg, series: &Series) {
        let most = series.largest_cell();
        for (i, point) in series.points.iter().enumerate() {
            let [left, right] = [point[0], point[1]].map(|x| self.x.place(x));
            let [one, other] = [point[2], point[3]].map(|y| self.y.place(y));
            let [top, bottom] = [one.min(other), one.max(other)];
            let frame = [left, top, right - left, bottom - top];
            svg.rectangle(frame, &tint(series.role.colour(), point[4] / most));
            if let Some(label) = series.labels.get(i) {
                let middle = [f64::midpoint(left, right), f64::midpoint(top, bottom) + 4.0];
                svg.text(label, middle, 12.0, INK, Anchor::Middle);
            }
        }
    }
}

/// The colour mixed with white. A share of 1 gives the colour, and 0 gives white.
fn tint(colour: &str, share: f64) -> String {
    let part = |from: usize| {
        let whole = colour.get(from..from + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        255.0 - (255.0 - f64::from(whole.unwrap_or(0))) * share.clamp(0.0, 1.0)
    };
    let [red, green, blue] = [1, 3, 5].map(|from| part(from) as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}
