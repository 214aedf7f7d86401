//! Epsilons beside each other, a row for each thing or each setting.

use super::chart::{Axis, Chart, Draw, Role, Series};
use crate::numbers::{rounded_down, rounded_up, significant};
use crate::results::Theory;
use misdeal_core::Bounds;

/// Epsilons that differ by more than this factor are drawn on a logarithmic axis.
const WIDE: f64 = 40.0;

/// The epsilons of one row; what is not known is not drawn.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// What they are of.
    pub name: String,
    /// What was found, as a lower bound with confidence.
    pub found: Option<f64>,
    /// What was found, without a guarantee.
    pub raw: Option<f64>,
    /// What is claimed.
    pub claimed: Option<f64>,
    /// What was printed elsewhere.
    pub printed: Option<f64>,
    /// Between what theory puts the truth.
    pub theory: [Option<f64>; 2],
}

/// Both sides of a bound.
pub fn sides(bounds: &Bounds) -> [Option<f64>; 2] {
    [bounds.epsilon_lower_bound, bounds.epsilon_upper_bound]
}

/// A row for each scheme that theory knows.
pub fn rows_of_theory(theory: &Theory) -> impl Iterator<Item = Row> {
    let known = theory.iter().filter(|(_, bounds)| sides(bounds) != [None, None]);
    known.map(|(scheme, bounds)| Row {
        name: format!("theory, {scheme}"),
        theory: sides(bounds),
        ..Row::default()
    })
}

/// Both sides of a bound in words.
pub fn between([lower, upper]: [Option<f64>; 2]) -> String {
    match (lower.map(rounded_down), upper.map(rounded_up)) {
        (Some(lower), Some(upper)) => format!("{lower} to {upper}"),
        (Some(lower), None) => format!("at least {lower}"),
        (None, Some(upper)) => format!("at most {upper}"),
        (None, None) => "not known".into(),
    }
}

/// Rows from the top down, epsilon to the right.
pub fn chart(title: &str, caption: &str, rows: &[Row]) -> Chart {
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let mut series = vec![theory(rows, "theory: the truth lies within")];
    series.extend(one_sided(rows));
    let kinds: [(&str, Role, Draw, fn(&Row) -> Option<f64>, fn(f64) -> String); 4] = [
        ("claimed", Role::Claimed, Draw::Marks, |row| row.claimed, significant),
        ("printed in the paper", Role::Other, Draw::Marks, |row| row.printed, significant),
        ("without a guarantee", Role::Raw, Draw::Marks, |row| row.raw, significant),
        (
            "found: at least",
            Role::Found,
            Draw::AtLeast,
            |row| row.found,
            |found| format!("at least {}", rounded_down(found)),
        ),
    ];
    for (name, role, draw, value, label) in kinds {
        let there = || (0_u32..).zip(rows).filter_map(|(i, row)| Some((value(row)?, f64::from(i))));
        let mut marks = Series::new(name, role, draw, there().map(|(x, row)| [x, row]));
        marks.labels = there().map(|(x, _)| label(x)).collect();
        series.push(marks);
    }
    series.retain(|series| !series.points.is_empty());
    let numbers = || {
        rows.iter().flat_map(|row| {
            row.theory.into_iter().chain([row.found, row.raw, row.claimed, row.printed]).flatten()
        })
    };
    let least = numbers().fold(f64::INFINITY, f64::min);
    let most = numbers().fold(0.0, f64::max);
    let x = Axis::of_epsilons();
    let x = if least > 0.0 && most / least > WIDE { Axis { log: true, ..x } } else { x };
    Chart { title: title.into(), caption: caption.into(), x, y: Axis::of_rows("", names), series }
}

fn theory(rows: &[Row], name: &str) -> Series {
    let there =
        || (0_u32..).zip(rows).filter_map(|(i, row)| Some(([row.theory[0]?, row.theory[1]?], f64::from(i))));
    let mut bars =
        Series::new(name, Role::Theory, Draw::Bars, there().map(|([from, to], row)| [from, to, row]));
    bars.labels = there().map(|([from, to], _)| between([Some(from), Some(to)])).collect();
    bars
}

/// Theory that knows one side only.
fn one_sided(rows: &[Row]) -> [Series; 2] {
    let sides: [(&str, Draw, fn(&Row) -> Option<f64>, fn(f64) -> String); 2] = [
        (
            "theory: at least",
            Draw::AtLeast,
            |row| row.theory[0].filter(|_| row.theory[1].is_none()),
            rounded_down,
        ),
        ("theory: at most", Draw::Marks, |row| row.theory[1].filter(|_| row.theory[0].is_none()), rounded_up),
    ];
    sides.map(|(name, draw, value, label)| {
        let there = || (0_u32..).zip(rows).filter_map(|(i, row)| Some((value(row)?, f64::from(i))));
        let mut marks = Series::new(name, Role::Theory, draw, there().map(|(x, row)| [x, row]));
        marks.labels = there().map(|(x, _)| label(x)).collect();
        marks
    })
}
