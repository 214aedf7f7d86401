//! Formats a sweep of a model card as text for people.

use super::check::word;
use super::{rounded_down, rounded_up};
use crate::environment::Environment;
use misdeal_core::SchemeName;
use misdeal_results::Swept;
use misdeal_results::numbers::significant;

/// Formats a table with a row for each point, and a count of the verdicts.
pub fn swept(report: &Swept, environment: &Environment) -> String {
    let mut table = environment.table(120);
    let fields = report.varied.iter().map(|one| one.field.replace('_', " "));
    let others =
        ["claim", "epsilon at least", "at most", "poisson at most", "balls-in-bins at most", "verdict"];
    table.set_header(fields.chain(others.map(String::from)));
    for (values, card) in report.points() {
        let upper = |scheme| card.scheme(scheme).and_then(|one| one.bounds.epsilon_upper_bound);
        let shown = |side: Option<f64>, text: fn(f64) -> String| side.map_or("not known".into(), text);
        let cells = [
            card.claimed_epsilon.map_or("none".into(), significant),
            shown(card.epsilon_lower_bound, rounded_down),
            shown(card.epsilon_upper_bound, rounded_up),
            shown(upper(SchemeName::Poisson), rounded_up),
            shown(upper(SchemeName::BallsInBins), rounded_up),
            word(card.verdict().kind).to_owned(),
        ];
        table.add_row(values.into_iter().chain(cells));
    }
    format!("Verdict: {}\n\n{table}\n", report.verdict().sentence)
}
