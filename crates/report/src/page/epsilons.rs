//! Epsilons beside each other, a row for each thing or each setting.

use super::chart::{Axis, Chart, Draw, Role, Series};
use crate::results::Theory;
use misdeal_core::Bounds;
use misdeal_results::numbers::{rounded_down, rounded_up, significant};

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

/// One kind of mark: what it is called, how it is drawn, where, and what is said of it.
struct Marks {
    name: &'static str,
    role: Role,
    draw: Draw,
    value: fn(&Row) -> Option<f64>,
    label: fn(f64) -> String,
}

/// All kinds, from the back to the front.
const MARKS: [Marks; 6] = [
    Marks {
        name: "theory: at least",
        role: Role::Theory,
        draw: Draw::AtLeast,
        value: |row| row.theory[0].filter(|_| row.theory[1].is_none()),
        label: rounded_down,
    },
    Marks {
        name: "theory: at most",
        role: Role::Theory,
        draw: Draw::Marks,
        value: |row| row.theory[1].filter(|_| row.theory[0].is_none()),
        label: rounded_up,
    },
    Marks {
        name: "claimed",
        role: Role::Claimed,
        draw: Draw::Marks,
        value: |row| row.claimed,
        label: significant,
    },
    Marks {
        name: "printed in the paper",
        role: Role::Other,
        draw: Draw::Marks,
        value: |row| row.printed,
        label: significant,
    },
    Marks {
        name: "without a guarantee",
        role: Role::Raw,
        draw: Draw::Marks,
        value: |row| row.raw,
        label: significant,
    },
    Marks {
        name: "found: at least",
        role: Role::Found,
        draw: Draw::AtLeast,
        value: |row| row.found,
        label: rounded_down,
    },
];

impl Marks {
    fn of(&self, rows: &[Row]) -> Series {
        let value = |row| (self.value)(row).filter(|value| value.is_finite());
        let there = || (0_u32..).zip(rows).filter_map(|(i, row)| Some((value(row)?, f64::from(i))));
        let mut series = Series::new(self.name, self.role, self.draw, there().map(|(x, row)| [x, row]));
        series.labels = there().map(|(x, _)| (self.label)(x)).collect();
        series
    }
}

/// Rows from the top down, epsilon to the right.
pub fn chart(title: &str, caption: &str, rows: &[Row]) -> Chart {
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let series = [theory(rows)].into_iter().chain(MARKS.iter().map(|marks| marks.of(rows)));
    let series = series.filter(|series| !series.points.is_empty()).collect();
    let values = |row: &Row| [row.theory[0], row.theory[1], row.found, row.raw, row.claimed, row.printed];
    let drawn = || rows.iter().flat_map(values).flatten().filter(|value| value.is_finite());
    let (least, most) = (drawn().fold(f64::INFINITY, f64::min), drawn().fold(0.0, f64::max));
    let x = Axis { log: least > 0.0 && most / least > WIDE, ..Axis::of_epsilons() };
    Chart { title: title.into(), caption: caption.into(), x, y: Axis::of_rows("", names), series }
}

/// Bars where theory knows both sides.
fn theory(rows: &[Row]) -> Series {
    let sides = |row: &Row| Some([row.theory[0]?, row.theory[1]?]);
    let there = || (0_u32..).zip(rows).filter_map(|(i, row)| Some((sides(row)?, f64::from(i))));
    let bars = there().map(|([from, to], row)| [from, to, row]);
    let mut series = Series::new("theory: the truth lies within", Role::Theory, Draw::Bars, bars);
    series.labels = there().map(|(sides, _)| between(sides.map(Some))).collect();
    series
}
