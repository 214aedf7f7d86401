//! What theory says, and noise that was calibrated.

use super::command_line::CommandLine;
use super::section::{Fact, KeyFigure, Rerun, Section, Summary, Table};
use crate::pictures::epsilons::{between, sides};
use crate::pictures::{judged, trade_off};
use misdeal_core::{ClosedSet, SchemeName};
use misdeal_results::numbers::{self, count, probability, rounded_down, rounded_up, significant};
use misdeal_results::{Account, Calibration, Shape};

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
        verdict: account.verdict(),
        figures: figures(account),
        meaning: vec![
            "Lower bounds are never too large and upper bounds never too small. A side that nobody knows how to bound is left open, with \
             the reason."
                .into(),
        ],
        advice: Vec::new(),
        charts,
        tables: tables(account),
        settings: settings(account),
        rerun: Rerun { command: Some(command(account)), note: "Nothing here is random.".into() },
        provenance: Vec::new(),
        summary: Summary { claimed: account.claimed_epsilon, theory: one, ..Summary::default() },
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

fn tables(account: &Account) -> Vec<Table> {
    let side = |side: Option<f64>, text: fn(f64) -> String| side.map_or("not known".into(), text);
    let times = |epsilon: Option<f64>| {
        let both = epsilon.zip(account.claimed_epsilon);
        both.map_or(String::new(), |(epsilon, claim)| numbers::times(epsilon, claim))
    };
    let bounds = account.schemes.iter().map(|(scheme, bounds)| {
        let [lower, upper] = sides(bounds);
        vec![
            scheme.to_string(),
            side(lower, rounded_down),
            side(upper, rounded_up),
            times(lower),
            bounds.method.clone(),
        ]
    });
    let mut tables = vec![Table {
        caption: "Bounds on epsilon".into(),
        header: vec!["scheme", "at least", "at most", "times the claim", "method"],
        rows: bounds.collect(),
        notes: Vec::new(),
    }];
    if let Some(epsilon) = account.epsilon {
        let rows = account.deltas.iter().map(|(scheme, bounds)| {
            let [lower, upper] = [bounds.delta_lower_bound, bounds.delta_upper_bound];
            let [lower, upper] = [lower.map(|x| 0.9995 * x), upper.map(|x| (1.0005 * x).min(1.0))];
            let shown = |value: Option<f64>| side(value, |value| format!("{value:.3e}"));
            vec![scheme.to_string(), shown(lower), shown(upper), bounds.method.clone()]
        });
        tables.push(Table {
            caption: format!("Bounds on delta at epsilon {epsilon}"),
            header: vec!["scheme", "at least", "at most", "method"],
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
            ]
        });
        tables.push(Table {
            caption: "What other methods say".into(),
            header: vec!["method", "scheme", "at least", "at most"],
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

/// Batches and epochs of a run.
fn counts(shape: &Shape) -> impl Iterator<Item = Fact> {
    let counts = [
        ("steps per epoch", Some(shape.steps_per_epoch)),
        ("epochs", Some(shape.epochs)),
        ("batch size", Some(shape.batch_size)),
        ("buffer size", shape.buffer_size),
    ];
    counts.into_iter().filter_map(|(name, value)| Some(Fact::new(name, count(value?))))
}

fn command(account: &Account) -> String {
    let line = CommandLine::new("account").flag("noise-multiplier", account.noise_multiplier);
    let line = match &account.shape {
        None => line.flag("sampling-probability", account.sampling_probability).flag("steps", account.steps),
        Some(shape) => {
            let scheme = match &account.schemes.keys().collect::<Vec<_>>()[..] {
                [scheme] => scheme.name(),
                _ => "all",
            };
            let line = match shape.dataset_size {
                Some(records) => line.flag("dataset-size", records),
                None => line.flag("steps-per-epoch", shape.steps_per_epoch),
            };
            let line = if account.steps == shape.steps_per_epoch * shape.epochs {
                line.flag("epochs", shape.epochs)
            } else {
                line.flag("steps", account.steps)
            };
            line.flag("batch-size", shape.batch_size)
                .flag_if_any("buffer-size", shape.buffer_size)
                .flag("scheme", scheme)
        }
    };
    line.number("delta", account.delta)
        .flag_if_any("claimed-epsilon", account.claimed_epsilon.filter(|_| account.claim_is_given))
        .flag_if_any("epsilon", account.epsilon)
        .switch("trade-off", !account.trade_offs.is_empty())
        .switch("compare", !account.comparisons.is_empty())
        .text()
}

/// The section of a calibration.
pub fn calibration(found: &Calibration) -> Section {
    let (scheme, bound) = (found.scheme.name(), found.sides());
    let &Calibration { steps_per_epoch, epochs, batch_size, .. } = found;
    let buffer_size = found.scheme.buffer_size();
    let shape = Shape { steps_per_epoch, epochs, batch_size, buffer_size, dataset_size: found.dataset_size };
    let line = CommandLine::new("calibrate")
        .flag("target-epsilon", found.target_epsilon)
        .number("delta", found.delta);
    let line = match found.dataset_size {
        Some(records) => line.flag("dataset-size", records),
        None => line.flag("steps-per-epoch", steps_per_epoch),
    };
    let line = line
        .flag("epochs", epochs)
        .flag("batch-size", batch_size)
        .flag("scheme", scheme)
        .flag_if_any("buffer-size", shape.buffer_size)
        .flag("bound", found.bound.name());
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
        verdict: found.verdict(),
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
        rerun: Rerun { command: Some(line.text()), note: "Nothing here is random.".into() },
        provenance: Vec::new(),
        summary: Summary { claimed: Some(found.target_epsilon), theory: bound, ..Summary::default() },
    }
}
