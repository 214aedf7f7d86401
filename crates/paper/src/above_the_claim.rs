//! Counts the published settings with more leakage than Poisson sampling justifies.

use misdeal_results::{AboveCount, AboveTheClaim, Provenance, Reproduced};
use std::collections::BTreeMap;

/// Counts the rows that have a provenance; `None` if no row has one.
pub fn of(rows: &[&Reproduced]) -> Option<AboveTheClaim> {
    let mut by_provenance: BTreeMap<Provenance, Vec<&Reproduced>> = BTreeMap::new();
    for row in rows {
        if let Some(provenance) = row.provenance {
            by_provenance.entry(provenance).or_default().push(row);
        }
    }
    let all = count(by_provenance.values().flatten().copied());
    let by_provenance: BTreeMap<_, _> =
        by_provenance.into_iter().map(|(provenance, rows)| (provenance, count(rows.into_iter()))).collect();
    (!by_provenance.is_empty()).then_some(AboveTheClaim { all, by_provenance })
}

fn count<'a>(rows: impl Iterator<Item = &'a Reproduced>) -> AboveCount {
    let played: Vec<&Reproduced> = rows.filter(|row| row.ours.is_some()).collect();
    let above = |value: fn(&Reproduced) -> Option<f64>| {
        let is_above = |row: &&&Reproduced| {
            value(row).zip(row.poisson_upper_bound()).is_some_and(|(value, claim)| value > claim)
        };
        played.iter().filter(is_above).count() as u64
    };
    AboveCount {
        settings: played.len() as u64,
        theory: above(|row| row.theory_of_the_scheme()?.epsilon_lower_bound),
        valid: above(|row| row.valid_epsilon),
        ours: above(|row| row.ours),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::played::Played;
    use crate::settings;
    use misdeal_core::{Bounds, SchemeName, Setting, SideMethod};

    fn bounds(epsilon_lower_bound: f64, epsilon_upper_bound: f64) -> Bounds {
        Bounds {
            epsilon_lower_bound: Some(epsilon_lower_bound),
            epsilon_upper_bound: Some(epsilon_upper_bound),
            method: SideMethod::ClosedForm.into(),
        }
    }

    /// Results as if every published setting had been audited. Poisson sampling claims at most 2.
    fn played(theory: f64, valid: f64, ours: f64) -> Vec<Reproduced> {
        let nothing = Played { reports: Vec::new(), missing_data: None };
        let rows = settings::artefact().rows;
        let rows = rows.iter().map(|row| Reproduced {
            ours: Some(ours),
            valid_epsilon: Some(valid),
            theory: [(SchemeName::Poisson, bounds(1.0, 2.0)), (SchemeName::Shuffle, bounds(theory, 9.0))]
                .into_iter()
                .collect(),
            setting: Some(Setting::default()),
            ..row.beside("settings", 1000, &nothing)
        });
        rows.collect()
    }

    #[test]
    fn each_kind_is_counted_and_what_was_not_played_is_not() {
        let mut rows = played(2.0, 2.5, 3.0);
        let first =
            |rows: &[Reproduced], kind| rows.iter().position(|row| row.provenance == Some(kind)).unwrap();
        let (printed, assumed) = (first(&rows, Provenance::AsPrinted), first(&rows, Provenance::Assumed));
        rows[printed].ours = None;
        rows[assumed].valid_epsilon = Some(2.0);
        rows[assumed].theory.insert(SchemeName::Shuffle, bounds(2.1, 9.0));
        let found = of(&rows.iter().collect::<Vec<_>>()).unwrap();
        let count = |settings, theory, valid, ours| AboveCount { settings, theory, valid, ours };
        assert_eq!(found.all, count(83, 1, 82, 83));
        let kinds = [
            (Provenance::AsPrinted, count(5, 0, 5, 5)),
            (Provenance::Assumed, count(69, 1, 68, 69)),
            (Provenance::FromPublicCode, count(9, 0, 9, 9)),
        ];
        assert_eq!(found.by_provenance, kinds.into());
        for row in &mut rows {
            row.provenance = None;
        }
        assert_eq!(of(&rows.iter().collect::<Vec<_>>()), None);
    }
}
