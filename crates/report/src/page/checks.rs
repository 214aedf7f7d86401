//! Model cards that were checked.

use super::section::{Advice, Fact, KeyFigure, Rerun, Section, Summary, Table};
use crate::pictures::epsilons::between;
use crate::pictures::judged;
use misdeal_core::ClosedSet;
use misdeal_results::numbers::{count, probability, rounded_down, rounded_up, significant};
use misdeal_results::{Checked, CheckedCard};

/// A section for each card.
pub fn sections(checked: &Checked) -> Vec<Section> {
    checked.cards.iter().map(section).collect()
}

fn section(card: &CheckedCard) -> Section {
    let sides = [card.largest_lower_bound(), card.epsilon_upper_bound];
    Section {
        kind: "Model card",
        title: format!("{}, delta {}", card.name, probability(card.delta)),
        verdict: card.verdict(),
        figures: figures(card, sides),
        meaning: card.remarks.clone(),
        advice: vec![Advice { text: card.advice(), command: None }],
        charts: vec![judged::card(card)],
        tables: vec![schemes(card)],
        settings: settings(card),
        rerun: Rerun::default(),
        provenance: Vec::new(),
        summary: Summary { claimed: card.claimed_epsilon, theory: sides, ..Summary::default() },
    }
}

fn figures(card: &CheckedCard, sides: [Option<f64>; 2]) -> Vec<KeyFigure> {
    let claim = card
        .claimed_epsilon
        .map(|claim| KeyFigure::new("claimed", format!("ε {}", significant(claim)), "by the card"));
    let proven = KeyFigure::new("proven", format!("ε {}", between(sides)), "what this training leaks");
    claim.into_iter().chain([proven]).collect()
}

fn schemes(card: &CheckedCard) -> Table {
    let side = |side: Option<f64>, text: fn(f64) -> String| side.map_or("not known".into(), text);
    let rows = card.schemes.iter().map(|(name, scheme)| {
        let [lower, upper] = scheme.bounds.sides();
        let noise = scheme.noise_multiplier_needed.map_or("not known".into(), |noise| noise.to_string());
        vec![
            name.name().into(),
            side(lower, rounded_down),
            side(upper, rounded_up),
            probability(card.delta),
            noise,
        ]
    });
    Table {
        caption: "The same training with other batches".into(),
        header: vec!["scheme", "at least", "at most", "delta", "noise that keeps the claim"],
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

fn settings(card: &CheckedCard) -> Vec<Fact> {
    let setting = &card.setting;
    vec![
        Fact::new("batch scheme", setting.scheme.map_or("not stated", ClosedSet::name)),
        Fact::new("noise multiplier", setting.noise_multiplier.to_string()),
        Fact::new("records", count(setting.dataset_size)),
        Fact::new("batch size", count(setting.batch_size)),
        Fact::new("steps per epoch", count(setting.steps_per_epoch)),
        Fact::new("steps", count(setting.steps)),
        Fact::new("delta", probability(card.delta)),
    ]
}
