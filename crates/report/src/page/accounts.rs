//! What theory says, and noise that was calibrated.

use super::command_line::CommandLine;
use super::section::{Fact, KeyFigure, Rerun, Section, Summary, Table, Verdict};
use crate::pictures::epsilons::{between, sides};
use crate::pictures::{judged, trade_off};
use crate::results::{Account, Calibration};
use misdeal_results::Tone;
use misdeal_results::numbers::{self, count, probability, rounded_down, rounded_up, significant};

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
        verdict: verdict(account),
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

fn verdict(account: &Account) -> Verdict {
    let Some(claim) = account.claimed_epsilon else {
        let sentence = "Bounds by scheme; for Poisson sampling none is known here.".into();
        return Verdict { tone: Tone::Neutral, label: "Bounds".into(), sentence };
    };
    let above =
        |bounds: &&misdeal_core::Bounds| bounds.epsilon_lower_bound.is_some_and(|lower| lower > claim);
    let worse = account.schemes.values().filter(above).count();
    let known = account.schemes.values().filter(|bounds| bounds.epsilon_lower_bound.is_some()).count();
    let claim = significant(claim);
    if worse == 0 {
        let sentence = format!(
            "The claim of epsilon {claim} is contradicted for none of the {known} schemes with a known lower bound."
        );
        return Verdict { tone: Tone::Open, label: "Consistent".into(), sentence };
    }
    let sentence = format!(
        "For {worse} of {known} schemes the claim of epsilon {claim}, right for Poisson sampling, is proven to be too small."
    );
    Verdict { tone: Tone::Doubt, label: "Depends on the batches".into(), sentence }
}

fn figures(account: &Account) -> Vec<KeyFigure> {
    let mut figures = Vec::new();
    if let Some(claim) = account.claimed_epsilon {
        let note = "what a library that assumes Poisson sampling states";
        figures.push(KeyFigure::new("claimed", format!("ε {}", significant(claim)), note));
    }
    for scheme in ["shuffle", "fixed-order"] {
        if let Some(bounds) = account.schemes.get(scheme) {
            figures.push(KeyFigure::new(scheme, format!("ε {}", between(sides(bounds))), "proven"));
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
            scheme.clone(),
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
            vec![scheme.clone(), shown(lower), shown(upper), bounds.method.clone()]
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
            vec![one.method.clone(), one.scheme.clone(), lower, shown(one.epsilon_upper_bound, rounded_up)]
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
    let counts = [
        ("steps per epoch", account.steps_per_epoch),
        ("epochs", account.epochs),
        ("batch size", account.batch_size),
        ("buffer size", account.buffer_size),
    ];
    facts.extend(counts.into_iter().filter_map(|(name, value)| Some(Fact::new(name, count(value?)))));
    facts
}

fn command(account: &Account) -> String {
    let line = CommandLine::new("account").flag("noise-multiplier", account.noise_multiplier);
    let line = match account.steps_per_epoch {
        None => line.flag("sampling-probability", account.sampling_probability).flag("steps", account.steps),
        Some(steps) => {
            let scheme = match &account.schemes.keys().collect::<Vec<_>>()[..] {
                [scheme] => scheme.as_str(),
                _ => "all",
            };
            line.flag("steps-per-epoch", steps)
                .flag_if_any("epochs", account.epochs)
                .flag_if_any("batch-size", account.batch_size)
                .flag_if_any("buffer-size", account.buffer_size)
                .flag("scheme", scheme)
        }
    };
    line.number("delta", account.delta)
        .flag_if_any("epsilon", account.epsilon)
        .switch("trade-off", !account.trade_offs.is_empty())
        .switch("compare", !account.comparisons.is_empty())
        .text()
}

/// The section of a calibration.
pub fn calibration(found: &Calibration) -> Section {
    let enough = found.bound == "upper";
    let noise = numbers::noise_multiplier(found.noise_multiplier, enough);
    let sentence = if enough {
        format!(
            "With noise multiplier {noise} {} is proven to meet epsilon {}.",
            found.scheme, found.target_epsilon
        )
    } else {
        format!(
            "With less than noise multiplier {noise} {} is known to miss epsilon {}; this much may not be enough.",
            found.scheme, found.target_epsilon
        )
    };
    let bound = if enough { [None, Some(found.epsilon)] } else { [Some(found.epsilon), None] };
    let line = CommandLine::new("calibrate")
        .flag("target-epsilon", found.target_epsilon)
        .number("delta", found.delta)
        .flag_if_any("steps-per-epoch", found.steps_per_epoch)
        .flag_if_any("epochs", found.epochs)
        .flag_if_any("batch-size", found.batch_size)
        .flag("scheme", &found.scheme)
        .flag_if_any("buffer-size", found.buffer_size)
        .flag("bound", &found.bound);
    let mut settings = vec![
        Fact::new("batch scheme", &found.scheme),
        Fact::new("target epsilon", found.target_epsilon.to_string()),
        Fact::new("delta", probability(found.delta)),
        Fact::new("bound that meets the target", &found.bound),
    ];
    let counts = [
        ("steps per epoch", found.steps_per_epoch),
        ("epochs", found.epochs),
        ("batch size", found.batch_size),
        ("buffer size", found.buffer_size),
    ];
    settings.extend(counts.into_iter().filter_map(|(name, value)| Some(Fact::new(name, count(value?)))));
    Section {
        kind: "Calibrated noise",
        title: format!(
            "{}, epsilon {} at delta {}",
            found.scheme,
            found.target_epsilon,
            probability(found.delta)
        ),
        verdict: Verdict {
            tone: if enough { Tone::Open } else { Tone::Doubt },
            label: if enough { "Enough noise" } else { "A lower limit" }.into(),
            sentence,
        },
        figures: vec![
            KeyFigure::new(
                "noise multiplier",
                noise,
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
