//! The section on a model card swept over a range of fields.

use super::section::{Fact, Rerun, Section, Summary, Table};
use crate::pictures::sweep;
use misdeal_core::SchemeName;
use misdeal_results::Swept;
use misdeal_results::numbers::{probability, rounded_down, rounded_up, significant};

/// The section of a sweep.
pub fn section(swept: &Swept) -> Section {
    let fields: Vec<String> = swept.varied.iter().map(|one| one.field.replace('_', " ")).collect();
    Section {
        kind: "Sweep",
        title: format!("one model card, {} points over {}", swept.cards.len(), fields.join(" and ")),
        name: None,
        advised: swept.verdict().sentence,
        verdict: swept.verdict(),
        remarks: Vec::new(),
        summary_tables: Vec::new(),
        figures: Vec::new(),
        meaning: vec![
            "Bounds are proven: lower bounds are never too large, upper bounds never too small.".into(),
        ],
        advice: Vec::new(),
        charts: sweep::charts(swept),
        tables: vec![table(swept)],
        settings: swept
            .cards
            .first()
            .map_or(Vec::new(), |card| vec![Fact::new("first point", card.training())]),
        rerun: Rerun::of(swept.request.as_ref(), "Nothing here is random."),
        provenance: Vec::new(),
        summary: Summary::default(),
    }
}

fn table(swept: &Swept) -> Table {
    let side = |side: Option<f64>, text: fn(f64) -> String| side.map_or("not known".into(), text);
    let rows = swept.points().map(|(values, card)| {
        let upper = |scheme| card.scheme(scheme).and_then(|one| one.bounds.epsilon_upper_bound);
        vec![
            values.join(", "),
            card.claimed_epsilon.map_or("none".into(), significant),
            probability(card.delta),
            side(card.epsilon_lower_bound, rounded_down),
            side(card.epsilon_upper_bound, rounded_up),
            side(upper(SchemeName::Poisson), rounded_up),
            card.verdict().label,
        ]
    });
    Table {
        caption: "Claimed and proven epsilon, point by point".into(),
        header: vec!["point", "claim", "delta", "at least", "at most", "poisson at most", "verdict"],
        rows: rows.collect(),
        notes: Vec::new(),
    }
}
