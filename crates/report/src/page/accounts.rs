//! Sections on accounts, which show theory's bounds, and on calibrated noise.

use super::section::{Fact, KeyFigure, Rerun, Section, Summary, Table};
use crate::pictures::epsilons::{between, sides};
use crate::pictures::{judged, trade_off};
use misdeal_core::{ClosedSet, SchemeName};
use misdeal_results::numbers::{self, count, probability, rounded_down, rounded_up, significant};
use misdeal_results::{Account, Calibration, RunShape};

/// The section of an account.
pub fn section(account: &Account) -> Section {
    let mut charts = vec![judged::account(account)];
    if !account.trade_offs.is_empty() {
        charts.extend(trade_off::known(&account.trade_offs));
    }
    let one = match &account.schemes.iter().collect::<Vec<_>>()[..] {
        [(_, bounds)] => sides(bounds),
        _ => [None, None],
    };
    Section {
        kind: "What theory says",
        title: format!(
            "{} steps at noise multiplier {}, delta {}",
            count(account.steps),
            significant(account.noise_multiplier),
            probability(account.delta)
        ),
        name: None,
        advised: account.advice(),
        verdict: account.verdict(),
        remarks: Vec::new(),
        summary_tables: vec![bounds(account)],
        figures: figures(account),
        meaning: vec![bounds_note().into()],
        advice: Vec::new(),
        charts,
        tables: tables(account),
        settings: settings(account),
        rerun: Rerun::of(account.request.as_ref(), "Nothing here is random."),
        provenance: Vec::new(),
        summary: Summary {
            claimed: account.claimed_epsilon,
            delta: Some(account.delta),
            theory: one,
            ..Summary::default()
        },
    }
}

fn figures(account: &Account) -> Vec<KeyFigure> {
    let mut figures = Vec::new();
    if let Some(claim) = account.claimed_epsilon {
        let note = if account.claim_is_given {
            "given"
        } else {
            "what a library that assumes Poisson sampling states"
        };
        figures.push(KeyFigure::new("claimed", format!("ε {}", significant(claim)), note));
    }
    for scheme in [SchemeName::Shuffle, SchemeName::FixedOrder] {
        if let Some(bounds) = account.schemes.get(&scheme) {
            figures.push(KeyFigure::new(scheme.name(), format!("ε {}", between(sides(bounds))), "proven"));
        }
    }
    figures
}

/// A note on what theory's bounds promise.
pub fn bounds_note() -> &'static str {
    "Lower bounds are never too large and upper bounds never too small. A side that nobody knows how to bound is left open."
}

fn side(side: Option<f64>, text: fn(f64) -> String) -> String {
    side.map_or("not known".into(), text)
}

/// The table of bounds on epsilon for each scheme.
fn bounds(account: &Account) -> Table {
    let times = |epsilon: Option<f64>| {
        let both = epsilon.zip(account.claimed_epsilon);
        both.map_or(String::new(), |(epsilon, claim)| numbers::times(epsilon, claim))
    };
    let rows = account.schemes.iter().map(|(scheme, bounds)| {
        let [lower, upper] = sides(bounds);
        vec![
            scheme.to_string(),
            side(lower, rounded_down),
            side(upper, rounded_up),
            probability(account.delta),
            times(lower),
        ]
    });
    Table {
        caption: "Bounds on epsilon, by how batches are made".into(),
        header: vec!["batches", "ε at least", "ε at most", "delta", "times the claim"],
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

fn tables(account: &Account) -> Vec<Table> {
    let methods =
        account.schemes.iter().map(|(scheme, bounds)| vec![scheme.to_string(), bounds.method.to_string()]);
    let mut tables = vec![Table {
        caption: "How each bound was found".into(),
        header: vec!["batches", "method"],
        rows: methods.collect(),
        notes: Vec::new(),
    }];
    if let Some(epsilon) = account.epsilon {
        let rows = account.deltas.iter().map(|(scheme, bounds)| {
            let [lower, upper] = [bounds.delta_lower_bound, bounds.delta_upper_bound];
            let [lower, upper] = [lower.map(|x| 0.9995 * x), upper.map(|x| (1.0005 * x).min(1.0))];
            let shown = |value: Option<f64>| side(value, |value| format!("{value:.3e}"));
            vec![scheme.to_string(), shown(lower), shown(upper), bounds.method.to_string()]
        });
        tables.push(Table {
            caption: format!("Bounds on delta at epsilon {epsilon}"),
            header: vec!["batches", "δ at least", "δ at most", "method"],
            rows: rows.collect(),
            notes: Vec::new(),
        });
    }
    if !account.comparisons.is_empty() {
        let shown = |value: Option<f64>, text: fn(f64) -> String| value.map_or(String::new(), text);
        let rows = account.comparisons.iter().map(|one| {
            let lower = shown(one.epsilon_lower_bound, rounded_down);
            vec![
                one.method.clone(),
                one.scheme.to_string(),
                lower,
                shown(one.epsilon_upper_bound, rounded_up),
                probability(account.delta),
            ]
        });
        tables.push(Table {
            caption: "What other methods say".into(),
            header: vec!["method", "batches", "ε at least", "ε at most", "delta"],
            rows: rows.collect(),
            notes: Vec::new(),
        });
    }
    tables
}

fn settings(account: &Account) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("noise multiplier", account.noise_multiplier.to_string()),
        Fact::new("steps", count(account.steps)),
        Fact::new("sampling probability", significant(account.sampling_probability)),
        Fact::new("delta", probability(account.delta)),
    ];
    if let Some(shape) = &account.shape {
        facts.extend(counts(shape));
    }
    facts
}

/// The batches and epochs of a run, as facts.
fn counts(shape: &RunShape) -> impl Iterator<Item = Fact> {
    let counts = [
        ("steps per epoch", Some(shape.steps_per_epoch)),
        ("epochs", Some(shape.epochs)),
        ("batch size", Some(shape.batch_size)),
        ("buffer size", shape.buffer_size),
    ];
    counts.into_iter().filter_map(|(name, value)| Some(Fact::new(name, count(value?))))
}

/// The section of a calibration.
pub fn calibration(found: &Calibration) -> Section {
    let (scheme, bound) = (found.scheme.name(), found.sides());
    let &Calibration { steps_per_epoch, epochs, batch_size, .. } = found;
    let buffer_size = found.scheme.buffer_size();
    let shape =
        RunShape { steps_per_epoch, epochs, batch_size, buffer_size, dataset_size: found.dataset_size };
    let mut settings = vec![
        Fact::new("batch scheme", scheme),
        Fact::new("target epsilon", found.target_epsilon.to_string()),
        Fact::new("delta", probability(found.delta)),
        Fact::new("bound that meets the target", found.bound.name()),
    ];
    settings.extend(counts(&shape));
    Section {
        kind: "Calibrated noise",
        title: format!("{scheme}, epsilon {} at delta {}", found.target_epsilon, probability(found.delta)),
        name: None,
        advised: found.advice(),
        verdict: found.verdict(),
        remarks: Vec::new(),
        summary_tables: Vec::new(),
        figures: vec![
            KeyFigure::new(
                "noise multiplier",
                found.noise(),
                "noise standard deviation divided by the clipping norm",
            ),
            KeyFigure::new("its epsilon", format!("ε {}", between(bound)), "proven"),
        ],
        meaning: Vec::new(),
        advice: Vec::new(),
        charts: vec![judged::calibration(found)],
        tables: Vec::new(),
        settings,
        rerun: Rerun::of(found.request.as_ref(), "Nothing here is random."),
        provenance: Vec::new(),
        summary: Summary {
            claimed: Some(found.target_epsilon),
            delta: Some(found.delta),
            theory: bound,
            ..Summary::default()
        },
    }
}
