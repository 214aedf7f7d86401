//! Sections on checked model cards.

use super::accounts::bounds_note;
use super::section::{Advice, Fact, KeyFigure, Remark, Rerun, Section, Summary, Table};
use crate::pictures::judged;
use misdeal_core::ClosedSet;
use misdeal_results::numbers::{count, probability, rounded_down, rounded_up, significant, times};
use misdeal_results::{Checked, CheckedCard, capitalised};

/// The sections of checked cards, one for each card.
pub fn sections(checked: &Checked) -> Vec<Section> {
    checked.cards.iter().map(|card| section(card, checked)).collect()
}

fn section(card: &CheckedCard, checked: &Checked) -> Section {
    let sides = [card.largest_lower_bound(), card.epsilon_upper_bound];
    Section {
        kind: "Model card",
        title: card.training(),
        name: Some(card.name.clone()),
        advised: card.advice(),
        verdict: card.verdict(),
        remarks: remarks(card),
        summary_tables: vec![schemes(card)],
        figures: figures(card, sides),
        meaning: meaning(),
        advice: advice(card),
        charts: vec![judged::card(card)],
        tables: Vec::new(),
        settings: settings(card),
        rerun: Rerun::of(
            checked.request.as_ref(),
            "Theory is not random, and an audit with the same seed gives the same number.",
        ),
        provenance: Vec::new(),
        summary: Summary {
            claimed: card.claimed_epsilon,
            delta: Some(card.delta),
            theory: sides,
            ..Summary::default()
        },
    }
}

fn figures(card: &CheckedCard, [lower, upper]: [Option<f64>; 2]) -> Vec<KeyFigure> {
    let at = format!("at delta {}", probability(card.delta));
    let claim = card.claimed_epsilon.map(|claim| {
        let held = format!("by the card, {at}");
        KeyFigure::new("claimed", format!("ε {}", significant(claim)), held)
    });
    let leaks = lower.map(|lower| {
        let beside = card.claimed_epsilon.filter(|&claim| lower > claim && claim > 0.0);
        let note = beside.map_or(at.clone(), |claim| format!("{} times the claim", times(lower, claim)));
        KeyFigure::new("leaks at least", format!("ε {}", rounded_down(lower)), note)
    });
    let most =
        upper.map(|upper| KeyFigure::new("leaks at most", format!("ε {}", rounded_up(upper)), "proven"));
    let remedy = card.remedy().map(|(name, upper, _)| {
        let note = "proven, with the same noise";
        KeyFigure::new(format!("with {} batches", name.name()), format!("ε ≤ {}", rounded_up(upper)), note)
    });
    claim.into_iter().chain(leaks).chain(most).chain(remedy).collect()
}

fn meaning() -> Vec<String> {
    let scheme = "How batches are made is part of the mechanism. Libraries compute epsilon as if each record joined each batch by its own \
                  coin (Poisson sampling), whatever the data loader does.";
    vec![scheme.into(), bounds_note().into()]
}

/// Remarks on assumptions where the card is silent, and on what an audit adds.
fn remarks(card: &CheckedCard) -> Vec<Remark> {
    let assumed: Vec<String> = card.remarks.iter().map(|remark| capitalised(remark)).collect();
    let assumed = (!assumed.is_empty()).then(|| Remark { about: "this card", text: assumed.join(" ") });
    assumed.into_iter().chain(audit(card).map(Remark::on_audit)).collect()
}

fn advice(card: &CheckedCard) -> Vec<Advice> {
    let only = |text: String| Advice { text, command: None };
    let Some(claim) = card.claimed_epsilon else { return Vec::new() };
    let own = card.setting.scheme.and_then(|name| Some((name, card.scheme(name)?)));
    let keeps =
        own.is_some_and(|(_, own)| own.bounds.epsilon_upper_bound.is_some_and(|upper| upper <= claim));
    if keeps {
        return Vec::new();
    }
    let state = card.epsilon_upper_bound.map(|upper| {
        only(format!("State what is proven of this training: epsilon at most {}.", rounded_up(upper)))
    });
    let noise = own.and_then(|(name, own)| {
        let noise = own.noise_multiplier_needed?;
        let text = format!(
            "Train with noise multiplier {noise} instead of {}: with {} batches that is proven to keep epsilon {}.",
            card.setting.noise_multiplier,
            name.name(),
            significant(claim)
        );
        Some(only(text))
    });
    let others = card.schemes.iter().filter(|&(name, _)| Some(*name) != card.setting.scheme);
    let others = others.filter_map(|(name, scheme)| {
        let noise = scheme.noise_multiplier_needed?;
        let text = format!("Use {} batches with noise multiplier {noise}.", name.name());
        Some(only(text))
    });
    state.into_iter().chain(noise).chain(others).collect()
}

/// What an audit adds, if one was run.
fn audit(card: &CheckedCard) -> Option<String> {
    let audit = card.audit.as_ref()?;
    let judged = audit.judged();
    let found = rounded_down(judged.empirical_epsilon);
    let small = judged.too_small().map_or(String::new(), |small| format!(" {small}"));
    Some(format!(
        "An audit of {} observations shows at least {found} with {} confidence.{small}",
        count(audit.observations),
        judged.confidence()
    ))
}

fn schemes(card: &CheckedCard) -> Table {
    let side = |side: Option<f64>, text: fn(f64) -> String| side.map_or("not known".into(), text);
    let rows = card.schemes.iter().map(|(name, scheme)| {
        let [lower, upper] = scheme.bounds.sides();
        let own = if card.setting.scheme == Some(*name) { " (this card)" } else { "" };
        let mut cells = vec![
            format!("{}{own}", name.name()),
            side(lower, rounded_down),
            side(upper, rounded_up),
            probability(card.delta),
        ];
        if let Some(claim) = card.claimed_epsilon {
            let noise = scheme.noise_multiplier_needed.map_or("not known".into(), |noise| noise.to_string());
            let kept = match [lower, upper] {
                [Some(lower), _] if lower > claim => "no",
                [_, Some(upper)] if upper <= claim => "yes",
                _ => "not known",
            };
            cells.extend([kept.into(), noise]);
        }
        cells
    });
    let mut header = vec!["batches", "ε at least", "ε at most", "delta"];
    if card.claimed_epsilon.is_some() {
        header.extend(["keeps the claim", "noise that keeps it"]);
    }
    Table {
        caption: "The same training, by how batches are made".into(),
        header,
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

fn settings(card: &CheckedCard) -> Vec<Fact> {
    let setting = &card.setting;
    let mut facts = vec![
        Fact::new("batch scheme", setting.scheme.map_or("not stated", ClosedSet::name)),
        Fact::new("noise multiplier", setting.noise_multiplier.to_string()),
        Fact::new("records", count(setting.dataset_size)),
        Fact::new("batch size", count(setting.batch_size)),
        Fact::new("steps per epoch", count(setting.steps_per_epoch)),
        Fact::new("epochs", count(setting.epochs)),
        Fact::new("steps", count(setting.steps)),
        Fact::new("delta", probability(card.delta)),
    ];
    facts.extend(setting.buffer_size.map(|size| Fact::new("buffer size", count(size))));
    facts
}
