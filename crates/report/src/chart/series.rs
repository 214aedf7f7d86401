//! What is drawn on a chart's axes.

use super::Role;
use serde::Serialize;

/// Significant digits of a number that is only drawn.
const DRAWN_DIGITS: usize = 6;

/// Things of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// The colour and mark that it has in every chart.
    pub role: Role,
    /// How it is drawn.
    pub draw: Draw,
    /// Points, whose numbers [`Draw`] explains.
    pub points: Vec<Vec<f64>>,
    /// What to say of each point instead of its numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Lengths of dashes and gaps, as SVG has them; none of a solid line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub dash: String,
    /// The outline of a mark, as an SVG path from its middle.
    pub mark: &'static str,
}

impl Series {
    /// Things whose numbers speak for themselves.
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

    /// The same things with something to say of each.
    pub fn labelled(self, labels: impl IntoIterator<Item = String>) -> Self {
        Series { labels: labels.into_iter().collect(), ..self }
    }

    /// Dashes unlike those of lines of the same role before it.
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

    /// The largest value of its cells.
    pub fn largest_cell(&self) -> f64 {
        self.points.iter().map(|point| point[4]).fold(f64::MIN_POSITIVE, f64::max)
    }
}

/// How points are drawn, and what their numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// A line through `[x, y]`.
    Line,
    /// The same with a mark at each point.
    Marked,
    /// The same with a mark here and there.
    Spaced,
    /// A mark at `[x, y]`.
    Marks,
    /// A mark at `[x, y]` with an arrow: at least so much.
    AtLeast,
    /// A mark at `[x, y]` with an arrow: at most so much.
    AtMost,
    /// A dot at `[x, y]`.
    Dots,
    /// A bar `[from x, to x, y]`.
    Bars,
    /// The region `[x, from y, to y]`.
    Band,
    /// A line across at `[x]`.
    Rule,
    /// Cells of a histogram `[from x, to x, count]`.
    Steps,
    /// A stroke `[x, y, other x, other y]`.
    Strokes,
    /// A cell `[from x, to x, from y, to y, value]`, the darker the larger its value.
    Cells,
}

impl Draw {
    /// The places of numbers along the x-axis, and along the y-axis.
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

    /// Whether it has dashes.
    pub const fn is_line(self) -> bool {
        matches!(self, Draw::Line | Draw::Marked | Draw::Spaced | Draw::Rule)
    }
}

/// A number as exact as a picture can show it.
fn drawn_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let text = format!("{value:.*e}", DRAWN_DIGITS - 1);
    text.parse().unwrap_or(value)
}

/// The points without those too near to their predecessors to show. `seen` says where the eye finds a point, in units of the panel.
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
