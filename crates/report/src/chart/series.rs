//! Series: what is drawn on a chart's axes.

use super::Role;
use serde::Serialize;

/// Significant digits kept in a number that is only drawn.
const DRAWN_DIGITS: usize = 6;

/// Points of one kind, drawn alike.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The role, which sets colour and mark in every chart.
    pub role: Role,
    /// How the points are drawn.
    pub draw: Draw,
    /// The points. [`Draw`] explains their numbers.
    pub points: Vec<Vec<f64>>,
    /// Text to show for each point instead of its numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Lengths of dashes and gaps, in SVG's format; empty for a solid line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub dash: String,
    /// The outline of the mark: an SVG path relative to its centre.
    pub mark: &'static str,
}

impl Series {
    /// A series without labels.
    pub fn new<const N: usize>(
        name: impl Into<String>,
        role: Role,
        draw: Draw,
        points: impl IntoIterator<Item = [f64; N]>,
    ) -> Self {
        Series {
            name: name.into(),
            role,
            draw,
            points: points.into_iter().map(|point| point.map(drawn_digits).to_vec()).collect(),
            labels: Vec::new(),
            dash: if draw.is_line() { role.dash().into() } else { String::new() },
            mark: role.mark(),
        }
    }

    /// This series with a label for each point.
    pub fn labelled(self, labels: impl IntoIterator<Item = String>) -> Self {
        Series { labels: labels.into_iter().collect(), ..self }
    }

    /// Picks dashes that differ from those of earlier lines with the same role.
    pub(super) fn choose_dash(&mut self, before: &[Series]) {
        let role = self.role;
        let is_like_this = |other: &&Series| other.role == role && other.draw.is_line();
        match (self.draw, before.iter().filter(is_like_this).count()) {
            (Draw::Rule, _) => self.dash = "6 3".into(),
            (Draw::Line | Draw::Marked | Draw::Spaced, before @ 1..) => {
                self.dash = format!("{} 3", 1 + 3 * before);
            }
            _ => {}
        }
    }

    /// The largest value of the series' cells.
    pub fn largest_cell(&self) -> f64 {
        self.points.iter().map(|point| point[4]).fold(f64::MIN_POSITIVE, f64::max)
    }
}

/// How points are drawn, and what their numbers mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// A line through `[x, y]`.
    Line,
    /// A line through `[x, y]` with a mark at each point.
    Marked,
    /// A line through `[x, y]` with marks at regular distances.
    Spaced,
    /// A mark at `[x, y]`.
    Marks,
    /// A mark at `[x, y]` with an arrow that means "at least".
    AtLeast,
    /// A mark at `[x, y]` with an arrow that means "at most".
    AtMost,
    /// A dot at `[x, y]`.
    Dots,
    /// A bar: `[from x, to x, y]`.
    Bars,
    /// A filled region: `[x, from y, to y]`.
    Band,
    /// A line across the plot at `[x]`.
    Rule,
    /// Cells of a histogram: `[from x, to x, count]`.
    Steps,
    /// A straight stroke: `[x, y, other x, other y]`.
    Strokes,
    /// A cell: `[from x, to x, from y, to y, value]`. Larger values are darker.
    Cells,
}

impl Draw {
    /// Indices of a point's numbers that belong to the x-axis, and to the y-axis.
    pub const fn places(self) -> [&'static [usize]; 2] {
        match self {
            Draw::Line
            | Draw::Marked
            | Draw::Spaced
            | Draw::Marks
            | Draw::AtLeast
            | Draw::AtMost
            | Draw::Dots => [&[0], &[1]],
            Draw::Bars | Draw::Steps => [&[0, 1], &[2]],
            Draw::Band => [&[0], &[1, 2]],
            Draw::Rule => [&[0], &[]],
            Draw::Strokes => [&[0, 2], &[1, 3]],
            Draw::Cells => [&[0, 1], &[2, 3]],
        }
    }

    /// Whether this kind of series has dashes.
    pub const fn is_line(self) -> bool {
        matches!(self, Draw::Line | Draw::Marked | Draw::Spaced | Draw::Rule)
    }
}

/// Rounds a number to the digits that a picture can show.
fn drawn_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let text = format!("{value:.*e}", DRAWN_DIGITS - 1);
    text.parse().unwrap_or(value)
}

/// The points, without those too close to the one before to be told apart. `seen` maps a point to its visible place, in units of the panel.
pub fn thinned(
    points: impl IntoIterator<Item = [f64; 2]>,
    seen: impl Fn([f64; 2]) -> [f64; 2],
) -> Vec<[f64; 2]> {
    const NEAR: f64 = 0.006;
    let mut kept: Vec<[f64; 2]> = Vec::new();
    let mut last = None;
    for point in points {
        let far = kept.last().is_none_or(|&before| {
            let ([x, y], [u, v]) = (seen(point), seen(before));
            (x - u).hypot(y - v) >= NEAR
        });
        if far {
            kept.push(point);
        }
        last = Some(point);
    }
    kept.extend(last.filter(|last| kept.last() != Some(last)));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_both_ends() {
        let line = (0..=10_000).map(|i| [f64::from(i) / 1e4, 0.5]);
        let kept = thinned(line, |point| point);
        assert!((100..200).contains(&kept.len()), "{}", kept.len());
        assert_eq!((kept[0], kept[kept.len() - 1]), ([0.0, 0.5], [1.0, 0.5]));
    }
}
