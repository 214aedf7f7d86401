//! In how many published settings more is found than Poisson sampling justifies.

use crate::ReproducedRow;
use serde::Serialize;
use std::collections::BTreeMap;

/// The settings of a table, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AboveTheClaim {
    /// All that were played.
    #[serde(flatten)]
    pub all: AboveCount,
    /// The same by how sure the settings are ([`Provenance::name`](crate::Provenance::name)), for each kind among the rows.
    pub by_provenance: BTreeMap<&'static str, AboveCount>,
}

/// How many of some settings leak more than Poisson sampling with the same noise: more than the upper bound of its epsilon, which is
/// never too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AboveCount {
    /// Settings that were played.
    pub settings: usize,
    /// Those where theory's lower bound for the scheme that was played proves it.
    pub theory: usize,
    /// Those where a bound that holds as stated shows it.
    pub valid: usize,
    /// Those where the paper's estimate, which is not a valid bound, shows it.
    pub ours: usize,
}

impl AboveTheClaim {
    /// Counts the rows that have a provenance; nothing where none has.
    pub(crate) fn of(rows: &[&ReproducedRow]) -> Option<Self> {
        let mut by_provenance: BTreeMap<&'static str, Vec<&ReproducedRow>> = BTreeMap::new();
        for row in rows {
            if let Some(provenance) = row.provenance {
                by_provenance.entry(provenance.name()).or_default().push(row);
            }
        }
        let all = AboveCount::of(by_provenance.values().flatten().copied());
        let by_provenance: BTreeMap<_, _> =
            by_provenance.into_iter().map(|(name, rows)| (name, AboveCount::of(rows.into_iter()))).collect();
        (!by_provenance.is_empty()).then_some(AboveTheClaim { all, by_provenance })
    }
}

impl AboveCount {
    fn of<'a>(rows: impl Iterator<Item = &'a ReproducedRow>) -> Self {
        let played: Vec<&ReproducedRow> = rows.filter(|row| row.ours.is_some()).collect();
        let above = |value: fn(&ReproducedRow) -> Option<f64>| {
            let is_above = |row: &&&ReproducedRow| {
                value(row).zip(row.poisson_upper_bound()).is_some_and(|(value, claim)| value > claim)
            };
            played.iter().filter(is_above).count()
        };
        AboveCount {
            settings: played.len(),
            theory: above(|row| row.theory_of_the_scheme()?.epsilon_lower_bound),
            valid: above(|row| row.valid_epsilon),
            ours: above(|row| row.ours),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Provenance;
    use crate::played::Played;
    use crate::settings;
    use misdeal_core::{Bounds, Setting};

    fn bounds(epsilon_lower_bound: f64, epsilon_upper_bound: f64) -> Bounds {
        Bounds {
            epsilon_lower_bound: Some(epsilon_lower_bound),
            epsilon_upper_bound: Some(epsilon_upper_bound),
            method: String::new(),
        }
    }

    /// The published settings as if each was played, with 2 as the claim of Poisson sampling.
    fn played(theory: f64, valid: f64, ours: f64) -> Vec<ReproducedRow> {
        let nothing = Played { reports: Vec::new(), missing_data: None };
        let rows = settings::artefact().rows;
        let rows = rows.iter().map(|row| ReproducedRow {
            ours: Some(ours),
            valid_epsilon: Some(valid),
            theory: [("poisson", bounds(1.0, 2.0)), ("shuffle", bounds(theory, 9.0))].into(),
            setting: Some(Setting::default()),
            ..row.beside("settings", 1000, &nothing)
        });
        rows.collect()
    }

    #[test]
    fn each_kind_is_counted_and_what_was_not_played_is_not() {
        let mut rows = played(2.0, 2.5, 3.0);
        let first =
            |rows: &[ReproducedRow], kind| rows.iter().position(|row| row.provenance == Some(kind)).unwrap();
        let (printed, assumed) = (first(&rows, Provenance::AsPrinted), first(&rows, Provenance::Assumed));
        rows[printed].ours = None;
        rows[assumed].valid_epsilon = Some(2.0);
        rows[assumed].theory.insert("shuffle", bounds(2.1, 9.0));
        let found = AboveTheClaim::of(&rows.iter().collect::<Vec<_>>()).unwrap();
        let count = |settings, theory, valid, ours| AboveCount { settings, theory, valid, ours };
        assert_eq!(found.all, count(83, 1, 82, 83));
        let kinds = [
            ("as printed", count(5, 0, 5, 5)),
            ("assumed", count(69, 1, 68, 69)),
            ("from public code", count(9, 0, 9, 9)),
        ];
        assert_eq!(found.by_provenance, kinds.into());
        for row in &mut rows {
            row.provenance = None;
        }
        assert_eq!(AboveTheClaim::of(&rows.iter().collect::<Vec<_>>()), None);
    }
}
