//! Formats checked model cards as text for people.

use super::{Text, rounded_down, rounded_up};
use crate::environment::Environment;
use comfy_table::Table;
use misdeal_core::{ClosedSet, printable};
use misdeal_results::numbers::{confidence, count, probability, significant, times};
use misdeal_results::{Checked, CheckedCard, VerdictKind};

/// Formats one card in full, or several as a table.
pub fn checked(report: &Checked, environment: &Environment) -> String {
    match report.cards.as_slice() {
        [card] => one(card, environment),
        _ => several(report, environment),
    }
}

fn one(card: &CheckedCard, environment: &Environment) -> String {
    let mut text = Text::new(environment.width());
    text.prose(&format!(
        "Verdict: {}\n\n{}\n\n",
        printable(&card.verdict().sentence),
        printable(&card.advice())
    ));
    let claim = card.claimed_epsilon.map_or("none".into(), |claim| {
        format!("epsilon {} at delta {}", significant(claim), probability(card.delta))
    });
    text.row("card", &card.name);
    text.row("claim", &claim);
    text.row("training", &card.training());
    for remark in &card.remarks {
        text.row("note", remark);
    }
    text.push_str("\nWhat theory proves of this training, by batch scheme:\n\n");
    text.table(&mut schemes(card, environment));
    if let Some(audit) = &card.audit {
        let found = &audit.estimate;
        let kind = if found.valid {
            format!(
                "at least {} with {} confidence",
                rounded_down(*found.empirical_epsilon),
                confidence(found.significance)
            )
        } else {
            format!("about {}, which is no valid bound", significant(*found.empirical_epsilon))
        };
        text.push('\n');
        text.prose(&format!(
            "Audit: {} observations of {} batches show epsilon {kind} ({:.1} s on {}).",
            count(audit.observations),
            audit.setting.scheme,
            audit.seconds,
            audit.engine
        ));
    }
    text.into_string()
}

fn schemes(card: &CheckedCard, environment: &Environment) -> Table {
    let mut table = environment.table(100);
    let needed = card.claimed_epsilon.map(|claim| format!("noise needed for {}", significant(claim)));
    let header = ["batch scheme", "epsilon at least", "at most", "times the claim"].map(String::from);
    table.set_header(header.into_iter().chain(needed.clone()));
    for (name, scheme) in &card.schemes {
        let own = if card.setting.scheme == Some(*name) { " (this card)" } else { "" };
        let [lower, upper] = scheme.bounds.sides();
        let excess = match (lower, card.claimed_epsilon) {
            (Some(lower), Some(claim)) if lower > claim => times(lower, claim),
            _ => String::new(),
        };
        let noise = scheme.noise_multiplier_needed.map_or("not known".into(), |noise| noise.to_string());
        let cells = [
            format!("{}{own}", name.name()),
            lower.map_or("not known".into(), rounded_down),
            upper.map_or("not known".into(), rounded_up),
            excess,
        ];
        table.add_row(cells.into_iter().chain(needed.is_some().then_some(noise)));
    }
    table
}

fn several(report: &Checked, environment: &Environment) -> String {
    let cards = &report.cards;
    let mut table = environment.table(120);
    table.set_header(["card", "claim", "delta", "scheme", "epsilon at least", "at most", "verdict"]);
    for card in cards {
        table.add_row([
            printable(&card.name).into_owned(),
            card.claimed_epsilon.map_or("none".into(), significant),
            probability(card.delta),
            card.setting.scheme.map_or("not stated", ClosedSet::name).to_owned(),
            card.largest_lower_bound().map_or("not known".into(), rounded_down),
            card.epsilon_upper_bound.map_or("not known".into(), rounded_up),
            word(card.verdict().kind).into(),
        ]);
    }
    let mut text = Text::new(environment.width());
    text.prose(&format!("Verdict: {}", report.verdict().sentence));
    text.push('\n');
    text.table(&mut table);
    text.push('\n');
    for card in cards {
        text.prose(&format!("{}: {}", printable(&card.name), printable(&card.verdict().sentence)));
    }
    text.into_string()
}

/// Returns a verdict in a word or two.
pub fn word(kind: VerdictKind) -> &'static str {
    match kind {
        VerdictKind::Refuted => "REFUTED",
        VerdictKind::Holds => "holds",
        VerdictKind::Undecided => "undecided",
        VerdictKind::NoClaim => "no claim",
    }
}
