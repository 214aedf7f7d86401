//! A chart as data: its axes, and the series drawn on them.
//!
//! [`pictures`](crate::pictures) makes charts from results. [`draw`](crate::draw) writes charts as SVG and PNG. The page's script draws the
//! same data with hover and zoom.

mod domain;
mod role;
mod series;

pub use domain::share_axes;
pub use role::Role;
pub use series::{Draw, Series, thinned};

use serde::Serialize;

/// A chart: title, axes and series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// The title: what the chart shows.
    pub title: String,
    /// What sets this chart apart, in a few words; may be empty.
    pub note: String,
    /// How to read the chart.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis. If it has rows, they run from the top down.
    pub y: Axis,
    /// What is drawn, from back to front.
    pub series: Vec<Series>,
}

impl Chart {
    /// A chart of `series`, without those that have no points. Series with the same role get different dashes.
    pub fn new(
        title: impl Into<String>,
        caption: impl Into<String>,
        [x, y]: [Axis; 2],
        mut series: Vec<Series>,
    ) -> Self {
        series.retain(|series| !series.points.is_empty());
        for i in 0..series.len() {
            let (before, from_here) = series.split_at_mut(i);
            from_here[0].choose_dash(before);
        }
        Chart { title: title.into(), note: String::new(), caption: caption.into(), x, y, series }
    }

    /// The chart as JSON for a script element. Escapes `<`, `>` and `&`, so the text cannot close the element.
    pub fn to_embedded_json(&self) -> String {
        let json = serde_json::to_string(self).expect("charts have only numbers and names");
        misdeal_core::printable_json(&json)
            .replace('<', "\\u003c")
            .replace('>', "\\u003e")
            .replace('&', "\\u0026")
    }
}

/// An axis of a chart: numbers, or rows with names.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Axis {
    /// What the axis measures.
    pub label: String,
    /// Whether the axis starts out logarithmic.
    pub log: bool,
    /// Whether the axis must stay linear, because logarithms make no sense on it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub linear: bool,
    /// Where the axis begins, unless the data begin earlier. A logarithmic axis always begins here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// Where the axis ends, unless the data end later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    /// Names of rows, from the top down, for an axis without numbers. Row `i` is centred at `i`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<String>,
    /// Indices of rows that are headings of the rows below them.
    #[serde(skip)]
    pub headings: Vec<usize>,
    /// The exact ends of the axis, if neighbouring charts share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<[f64; 2]>,
}

impl Axis {
    /// An axis of numbers.
    pub fn of(label: &str) -> Self {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// A linear axis between two numbers. Readers cannot make it logarithmic.
    pub fn between(label: &str, from: f64, to: f64) -> Self {
        Axis { linear: true, from: Some(from), to: Some(to), ..Axis::of(label) }
    }

    /// An axis of epsilons that begins at zero.
    pub fn of_epsilons() -> Self {
        Axis { from: Some(0.0), ..Axis::of("epsilon") }
    }

    /// An axis of rates from zero to one.
    pub fn of_rates(label: &str) -> Self {
        Axis { from: Some(0.0), to: Some(1.0), ..Axis::of(label) }
    }

    /// An axis with a row for each name.
    pub fn of_rows(rows: Vec<String>) -> Self {
        Axis { rows, ..Axis::default() }
    }

    /// This axis with a logarithmic scale.
    pub fn logarithmic(self) -> Self {
        Axis { log: true, from: None, to: None, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_closes_the_script_element() {
        let line = Series::new("]]>", Role::Found, Draw::Line, [[0.123456789, 2e9 / 3.0]]);
        let axes = [Axis::of("x"), Axis::of("y")];
        let chart = Chart::new("</script><script>alert(1)</script>", "<!-- & -->", axes, vec![line]);
        let json = chart.to_embedded_json();
        assert!(!json.contains(['<', '>', '&']), "{json}");
        let back: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(back["title"], chart.title);
        assert_eq!(back["series"][0]["points"][0], serde_json::json!([0.123457, 666667000.0]));
    }

    #[test]
    fn lines_of_one_role_have_different_dashes_and_empty_series_are_left_out() {
        let line = |points: Vec<[f64; 2]>| Series::new("one", Role::Claimed, Draw::Line, points);
        let series = [vec![[0.0, 1.0]], vec![], vec![[1.0, 1.0]], vec![[2.0, 1.0]]].map(line).into();
        let chart = Chart::new("", "", [Axis::of("x"), Axis::of("y")], series);
        let dashes: Vec<&str> = chart.series.iter().map(|series| series.dash.as_str()).collect();
        assert_eq!(dashes, ["8 4", "4 3", "7 3"]);
    }
}
