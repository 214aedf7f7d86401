//! What a chart on the page shows: data for the page's own script, which draws it, and the table of the same numbers.

use serde::Serialize;

/// Significant digits of a number that is only drawn.
const DRAWN_DIGITS: i32 = 6;

/// A chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// What is drawn, from the back to the front.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// Whether it begins logarithmic.
    pub log: bool,
    /// Whether logarithms make no sense on it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub linear: bool,
    /// Where it begins and ends on a linear scale, unless the data tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// Where it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    /// Names of rows, from the top down, where it has no numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<String>,
}

impl Axis {
    /// An axis of numbers.
    pub fn of(label: &str) -> Self {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// An axis of epsilons, from zero.
    pub fn of_epsilons() -> Self {
        Axis { label: "epsilon".into(), from: Some(0.0), ..Axis::default() }
    }

    /// An axis of rates, from zero to one.
    pub fn of_rates(label: &str) -> Self {
        Axis { label: label.into(), from: Some(0.0), to: Some(1.0), ..Axis::default() }
    }

    /// A row for each name.
    pub fn of_rows(label: &str, rows: Vec<String>) -> Self {
        Axis { label: label.into(), rows, ..Axis::default() }
    }

    /// The same axis, logarithmic.
    pub fn logarithmic(self) -> Self {
        Axis { log: true, from: None, to: None, ..self }
    }
}

/// Things of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// The colour and shape that it has in every chart.
    pub role: Role,
    /// How it is drawn.
    pub draw: Draw,
    /// Points, in the order of [`Draw`].
    pub points: Vec<Vec<f64>>,
    /// What to say of each point instead of its numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

impl Series {
    /// Things whose numbers speak for themselves.
    pub fn new<const N: usize>(
        name: impl Into<String>,
        role: Role,
        draw: Draw,
        points: impl IntoIterator<Item = [f64; N]>,
    ) -> Self {
        let drawn = |point: [f64; N]| point.map(drawn_digits).to_vec();
        Series {
            name: name.into(),
            role,
            draw,
            points: points.into_iter().map(drawn).collect(),
            labels: Vec::new(),
        }
    }
}

/// Whose number it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// What was found here.
    Found,
    /// What is claimed.
    Claimed,
    /// What theory says.
    Theory,
    /// What was printed elsewhere, or a second curve.
    Other,
    /// What has no guarantee.
    Raw,
}

/// How points are drawn, and what their numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// A line through `[x, y]`.
    Line,
    /// Cells `[from, to, count]`.
    Steps,
    /// A mark at `[x, row]`.
    Marks,
    /// A mark at `[x, row]` with an arrow: at least so much.
    AtLeast,
    /// A bar `[from, to, row]`.
    Bars,
    /// The region `[x, from, to]`.
    Band,
    /// A line across at `[x]`.
    Rule,
    /// Dots at `[x, y]`.
    Dots,
}

/// A number as exact as a picture can show it.
fn drawn_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let text = format!("{value:.*e}", DRAWN_DIGITS as usize - 1);
    text.parse().unwrap_or(value)
}

impl Chart {
    /// As JSON that can stand in a script element: no `<`, `>` or `&` is in it, so that nothing closes the element.
    pub fn to_embedded_json(&self) -> String {
        let json = serde_json::to_string(self).expect("charts have only numbers and names");
        misdeal_core::printable_json(&json)
            .replace('<', "\\u003c")
            .replace('>', "\\u003e")
            .replace('&', "\\u0026")
    }
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
    fn nothing_closes_the_script_element() {
        let chart = Chart {
            title: "</script><script>alert(1)</script>".into(),
            caption: "<!-- & -->".into(),
            x: Axis::of("x"),
            y: Axis::of("y"),
            series: vec![Series::new("]]>", Role::Found, Draw::Line, [[0.123456789, 2e9 / 3.0]])],
        };
        let json = chart.to_embedded_json();
        assert!(!json.contains(['<', '>', '&']), "{json}");
        let back: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(back["title"], chart.title);
        assert_eq!(back["series"][0]["points"][0], serde_json::json!([0.123457, 666667000.0]));
    }

    #[test]
    fn thinning_keeps_both_ends() {
        let line = (0..=10_000).map(|i| [f64::from(i) / 1e4, 0.5]);
        let kept = thinned(line, |point| point);
        assert!((100..200).contains(&kept.len()), "{}", kept.len());
        assert_eq!((kept[0], kept[kept.len() - 1]), ([0.0, 0.5], [1.0, 0.5]));
    }
}
