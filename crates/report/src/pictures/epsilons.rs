//! Charts of epsilons, with a row for each item or setting (the paper's Figures 1, 6, 7, 9 and 11).

use crate::chart::{Axis, Chart, Draw, Role, Series};
use misdeal_core::Bounds;
use misdeal_results::Theory;
use misdeal_results::numbers::{rounded_down, rounded_up, significant};

/// Epsilons that differ by more than this factor get a logarithmic axis.
const WIDE: f64 = 40.0;
/// With more rows than this, an epsilon of 0 does not force a linear axis. A linear axis would crowd most rows at its start.
const MANY: usize = 30;
/// The largest factor between drawn epsilons in a chart of many rows. Smaller epsilons are drawn at the start of the axis.
const RANGE_SEEN: f64 = 1e4;
/// How far a mark moves off the middle of its row, to avoid another mark.
const ASIDE: f64 = 0.22;

/// Legend name of a reproduction's estimate, which is the largest over all thresholds.
pub const FOUND: &str = "found here, maximum over thresholds (no guarantee)";
/// Legend name of a reproduction's bound, which holds with the stated confidence.
pub const VALID: &str = "found here, valid at 95 %";

/// The epsilons of one row. Unknown ones are not drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name of the row.
    pub name: String,
    /// The claimed epsilon.
    pub claimed: Option<f64>,
    /// The epsilon printed elsewhere.
    pub printed: Option<f64>,
    /// The epsilon found, as a lower bound with confidence.
    pub valid: Option<f64>,
    /// The epsilon found, without a guarantee.
    pub raw: Option<f64>,
    /// The standard deviation of `raw` over runs.
    pub deviation: Option<f64>,
    /// Legend names of `valid` and `raw`.
    pub names: [String; 2],
    /// Theory's lower and upper bound on the true epsilon.
    pub theory: [Option<f64>; 2],
}

impl Default for Row {
    fn default() -> Self {
        Row {
            name: String::new(),
            claimed: None,
            printed: None,
            valid: None,
            raw: None,
            deviation: None,
            names: [VALID, FOUND].map(String::from),
            theory: [None, None],
        }
    }
}

impl Row {
    /// A row with a name and no epsilons.
    pub fn named(name: impl Into<String>) -> Self {
        Row { name: name.into(), ..Row::default() }
    }

    /// All finite epsilons of the row.
    pub fn epsilons(&self) -> impl Iterator<Item = f64> {
        let all = [self.claimed, self.printed, self.valid, self.raw, self.theory[0], self.theory[1]];
        all.into_iter().flatten().filter(|epsilon| epsilon.is_finite())
    }
}

/// The lower and the upper bound of `bounds`.
pub fn sides(bounds: &Bounds) -> [Option<f64>; 2] {
    [bounds.epsilon_lower_bound, bounds.epsilon_upper_bound]
}

/// A row for each scheme with a bound from theory.
pub fn rows_of_theory(theory: &Theory) -> impl Iterator<Item = Row> {
    let known = theory.iter().filter(|(_, bounds)| sides(bounds) != [None, None]);
    known.map(|(scheme, bounds)| Row { theory: sides(bounds), ..Row::named(format!("theory, {scheme}")) })
}

/// The lower and the upper bound in words.
pub fn between([lower, upper]: [Option<f64>; 2]) -> String {
    match (lower.map(rounded_down), upper.map(rounded_up)) {
        (Some(lower), Some(upper)) => format!("{lower} to {upper}"),
        (Some(lower), None) => format!("at least {lower}"),
        (None, Some(upper)) => format!("at most {upper}"),
        (None, None) => "not known".into(),
    }
}

/// A chart with rows from the top down and epsilon along the horizontal axis.
pub fn chart(title: &str, caption: &str, rows: &[Row]) -> Chart {
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let (x, note) = axis(rows);
    let chart = Chart::new(title, caption, [x, Axis::of_rows(names)], series(rows));
    Chart { note, ..chart }
}

/// The epsilon axis, and a note on it. The axis begins at 0, or is logarithmic if epsilons differ a lot.
fn axis(rows: &[Row]) -> (Axis, String) {
    let most = rows.iter().flat_map(Row::epsilons).fold(0.0, f64::max);
    let is_long = rows.len() > MANY;
    let begin = if is_long { most / RANGE_SEEN } else { 0.0 };
    let least = rows.iter().flat_map(Row::epsilons).filter(|epsilon| *epsilon > begin || !is_long);
    let least = least.fold(f64::INFINITY, f64::min);
    if least <= 0.0 || most / least <= WIDE {
        return (Axis::of_epsilons(), String::new());
    }
    let is_outside = rows.iter().flat_map(Row::epsilons).any(|epsilon| epsilon < least);
    let note = if is_outside { format!("below {} at the left", significant(least)) } else { String::new() };
    (Axis { log: true, from: Some(least), ..Axis::of_epsilons() }, note)
}

/// A kind of mark: its name, role, drawing, epsilon and label.
type Kind = (fn(&Row) -> &str, Role, Draw, fn(&Row) -> Option<f64>, fn(&Row, f64) -> String);

/// The kinds of marks, from back to front.
const KINDS: [Kind; 6] = [
    (
        |_| "theory: at least",
        Role::Theory,
        Draw::AtLeast,
        |row| row.theory[0].filter(|_| row.theory[1].is_none()),
        |_, epsilon| rounded_down(epsilon),
    ),
    (
        |_| "theory: at most",
        Role::Theory,
        Draw::AtMost,
        |row| row.theory[1].filter(|_| row.theory[0].is_none()),
        |_, epsilon| rounded_up(epsilon),
    ),
    (|_| "claimed", Role::Claimed, Draw::Marks, |row| row.claimed, |_, epsilon| significant(epsilon)),
    (
        |_| "printed in the paper",
        Role::Other,
        Draw::Marks,
        |row| row.printed,
        |_, epsilon| significant(epsilon),
    ),
    (
        |row| &row.names[1],
        Role::Raw,
        Draw::Marks,
        |row| row.raw,
        |row, epsilon| match row.deviation {
            Some(deviation) => format!("{} ± {}", significant(epsilon), significant(deviation)),
            None => significant(epsilon),
        },
    ),
    (|row| &row.names[0], Role::Found, Draw::AtLeast, |row| row.valid, |_, epsilon| rounded_down(epsilon)),
];

fn series(rows: &[Row]) -> Vec<Series> {
    // What was found stands lower than what others say, and what is printed higher, so that neither hides the other.
    let is_shared = |row: &Row| {
        let others = row.claimed.is_some() || row.printed.is_some() || row.theory != [None, None];
        others && (row.valid.is_some() || row.raw.is_some())
    };
    let aside = if rows.iter().any(is_shared) { ASIDE } else { 0.0 };
    let height = |i: usize, role: Role| match role {
        Role::Found | Role::Raw => i as f64 + aside,
        Role::Other => i as f64 - aside,
        _ => i as f64,
    };
    let known = || rows.iter().enumerate().filter_map(|(i, row)| Some((row.theory[0]?, row.theory[1]?, i)));
    let bars = known().map(|(from, to, i)| [from, to, i as f64]);
    let labels = known().map(|(from, to, _)| between([Some(from), Some(to)]));
    let spread = rows.iter().enumerate().filter_map(|(i, row)| {
        let (middle, deviation, y) = (row.raw?, row.deviation?, height(i, Role::Raw));
        Some([middle - deviation, y, middle + deviation, y])
    });
    let mut series = vec![
        Series::new("theory: the truth lies within", Role::Theory, Draw::Bars, bars).labelled(labels),
        Series::new("± standard deviation", Role::Raw, Draw::Strokes, spread),
    ];
    for (name, role, draw, epsilon, label) in KINDS {
        // Where marks stand close together, an arrow would hide others; names say what is a bound.
        let draw = if role == Role::Found && aside > 0.0 { Draw::Marks } else { draw };
        let from = series.len();
        for (i, row) in rows.iter().enumerate() {
            let Some(epsilon) = epsilon(row).filter(|epsilon| epsilon.is_finite()) else { continue };
            let one = Series::new(name(row), role, draw, [[epsilon, height(i, role)]]);
            let one = one.labelled([label(row, epsilon)]);
            match series[from..].iter_mut().find(|known| known.name == one.name) {
                Some(known) => {
                    known.points.extend(one.points);
                    known.labels.extend(one.labels);
                }
                None => series.push(one),
            }
        }
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> Row {
        let theory = [Some(2.9), Some(3.5)];
        Row {
            claimed: Some(1.0),
            raw: Some(3.0),
            deviation: Some(0.2),
            valid: Some(2.8),
            theory,
            ..Row::named(name)
        }
    }

    fn names(chart: &Chart) -> Vec<&str> {
        chart.series.iter().map(|series| series.name.as_str()).collect()
    }

    #[test]
    fn marks_are_called_what_they_are_and_what_is_not_there_has_no_name() {
        let named = |name: &str, raw: &str| Row { names: ["at 99 %", raw].map(String::from), ..row(name) };
        let chart = chart("", "", &[named("one", "by ear"), named("two", "by eye")]);
        let expected = [
            "theory: the truth lies within",
            "± standard deviation",
            "claimed",
            "by ear",
            "by eye",
            "at 99 %",
        ];
        assert_eq!(names(&chart), expected);
        assert_eq!(chart.series[3].labels, ["3 ± 0.2"]);
    }

    #[test]
    fn epsilons_wide_apart_make_the_axis_logarithmic_but_not_beside_a_zero() {
        let far = Row { theory: [Some(48.0), Some(400.0)], ..row("far") };
        let none = Row { raw: Some(0.0), ..row("none") };
        let is_log = |rows: &[Row]| chart("", "", rows).x.log;
        assert_eq!(
            [is_log(&[row("near")]), is_log(std::slice::from_ref(&far)), is_log(&[far, none])],
            [false, true, false]
        );
    }

    #[test]
    fn of_many_rows_those_that_show_nothing_stand_at_the_left() {
        let far = Row { theory: [Some(48.0), Some(400.0)], ..row("far") };
        let none = Row { raw: Some(0.0), ..row("none") };
        let rows: Vec<Row> = (0..30).map(|i| row(&i.to_string())).chain([far, none]).collect();
        let chart = chart("", "", &rows);
        assert!(chart.x.log && chart.domains()[0][0] > 0.5, "{:?}", chart.domains());
        assert_eq!(chart.note, "below 1 at the left");
    }
}
