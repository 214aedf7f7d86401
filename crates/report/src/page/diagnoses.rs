//! Sections on diagnoses of data loaders.

use super::section::{Advice, Fact, KeyFigure, Remark, Rerun, Section, Summary, Table};
use crate::chart::Chart;
use crate::pictures::epsilons::{self, Row, between, rows_of_theory};
use crate::pictures::positions;
use misdeal_core::ClosedSet;
use misdeal_results::numbers::{
    count, epochs, p_value, percent, probability, rounded_down, rounded_up, seconds, significant,
};
use misdeal_results::request::{CalibrateRequest, DiagnoseRequest, Request, ShapeRequest};
use misdeal_results::{Diagnosed, Leakage, LoggedScheme, SchemeParameters};
use std::fmt::Write;

/// The most epochs whose positions are shown side by side.
const SHOWN_EPOCHS: usize = 2;

/// The section of a diagnosis.
pub fn section(found: &Diagnosed) -> Section {
    let bounds = found.leakage.as_ref().map_or([None, None], Leakage::sides);
    let (claimed, name) = (found.claimed_epsilon(), found.file_name());
    let mut charts: Vec<Chart> =
        found.positions.iter().flat_map(positions::charts).take(SHOWN_EPOCHS).collect();
    if found.leakage.is_some() {
        let mut rows = vec![Row { theory: bounds, ..Row::named("what was found") }];
        rows.extend(rows_of_theory(&found.theory));
        let caption = "What leaks under the scheme that was found, beside a full shuffle and Poisson sampling with as many steps.";
        charts.push(epsilons::chart("Epsilon of these batches", caption, &rows));
    }
    Section {
        kind: "Diagnosis of a data loader",
        title: format!("{name}: {}{}", found.diagnosis.scheme, described(&found.diagnosis.parameters)),
        name: None,
        advised: found.advice(),
        verdict: found.verdict(),
        remarks: remarks(found),
        summary_tables: beside(found, bounds).into_iter().collect(),
        figures: figures(found, bounds),
        meaning: meaning(found),
        advice: advice(found),
        charts,
        tables: tables(found),
        settings: settings(found),
        rerun: Rerun::of(found.request.as_ref(), "The same log gives the same diagnosis."),
        provenance: vec![Fact::new("time", seconds(found.seconds))],
        summary: Summary {
            claimed,
            delta: found.leakage.as_ref().map(|leakage| leakage.delta),
            theory: bounds,
            ..Summary::default()
        },
    }
}

/// Hints at likely causes, and what the reader left out.
fn remarks(found: &Diagnosed) -> Vec<Remark> {
    let texts = found.diagnosis.hints.iter().chain(&found.diagnosis.remarks);
    texts.map(|text| Remark { about: "this log", text: text.clone() }).collect()
}

/// The table of what leaks with these batches, and of theory's bounds for other schemes.
fn beside(found: &Diagnosed, bounds: [Option<f64>; 2]) -> Option<Table> {
    let delta = probability(found.leakage.as_ref()?.delta);
    let row = |name: String, [lower, upper]: [Option<f64>; 2]| {
        let side = |side: Option<f64>, text: fn(f64) -> String| side.map_or("not known".into(), text);
        vec![name, side(lower, rounded_down), side(upper, rounded_up), delta.clone()]
    };
    let theory = found.theory.iter().map(|(scheme, bounds)| row(format!("theory, {scheme}"), bounds.sides()));
    Some(Table {
        caption: "What leaks, by how batches are made".into(),
        header: vec!["batches", "ε at least", "ε at most", "delta"],
        rows: std::iter::once(row("these batches".into(), bounds)).chain(theory).collect(),
        notes: Vec::new(),
    })
}

fn described(parameters: &SchemeParameters) -> String {
    let mut text = String::new();
    if let Some(size) = parameters.buffer_size {
        let _ = write!(text, " (buffer of {})", count(size));
    }
    if let Some(portion) = parameters.refilled_by {
        let _ = write!(text, ", refilled by {}", count(portion));
    }
    if let Some(share) = parameters.sampling_probability {
        let _ = write!(text, " (probability {})", significant(share));
    }
    if parameters.order_is_reused == Some(true) {
        text += ", drawn once";
    }
    if let Some(size) = parameters.largest_batch {
        let _ = write!(text, ", cut at {} records", count(size));
    }
    if let Some(steps) = parameters.cycle_length {
        let _ = write!(text, " every {} steps", count(steps));
    }
    if let Some(uses) = parameters.uses {
        let _ = write!(text, " ({uses} batches of an epoch)");
    }
    text
}

fn figures(found: &Diagnosed, bounds: [Option<f64>; 2]) -> Vec<KeyFigure> {
    let mut figures = Vec::new();
    if let Some(leakage) = &found.leakage {
        let at =
            format!("noise multiplier {}, delta {}", leakage.noise_multiplier, probability(leakage.delta));
        let note = match leakage.confidence {
            _ if leakage.is_estimate => format!("an estimate that the truth may exceed; {at}"),
            Some(confidence) => format!("with {} confidence; {at}", percent(confidence)),
            None => format!("proven; {at}"),
        };
        figures.push(KeyFigure::new("leaks", format!("ε {}", between(bounds)), note));
    }
    if let Some(claim) = found.claimed_epsilon() {
        figures.push(KeyFigure::new(
            "Poisson sampling would leak",
            format!("ε {}", significant(claim)),
            "what libraries claim",
        ));
    }
    if let Some(size) = found.diagnosis.parameters.buffer_size {
        let share = format!("of {} records", count(found.dataset_size));
        figures.push(KeyFigure::new("buffer", count(size), share));
    }
    figures
}

fn meaning(found: &Diagnosed) -> Vec<String> {
    let mut paragraphs = Vec::new();
    if let Some(leakage) = &found.leakage {
        paragraphs.push(format!(
            "The leakage over {} was found by: {}.",
            epochs(leakage.epochs),
            leakage.method
        ));
        match &leakage.schemes[..] {
            [] => {}
            [scheme] => paragraphs.push(format!(
                "The bounds hold for {scheme}, the only scheme that the log does not rule out."
            )),
            [others @ .., last] => paragraphs.push(format!(
                "The bounds hold for all {} schemes that the log does not rule out: {} and {last}.",
                leakage.schemes.len(),
                others.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            )),
        }
        if leakage.is_estimate {
            paragraphs.push("It is an estimate: it assumes that the law of the batches only shifts with a record's place in the file.".into());
        }
    }
    let certain = if found.diagnosis.certain {
        "The scheme is certain: it explains the log better than any other by a factor of more than 20,000."
    } else {
        "The scheme is not certain; a log of more epochs may tell."
    };
    paragraphs.push(certain.into());
    paragraphs
}

/// Whether an upper bound is proven for the named scheme. This needs batches without defects, and orders that are drawn anew.
fn is_bounded(found: &Diagnosed, leakage: &Leakage) -> bool {
    let is_plain =
        found.diagnosis.defects.is_empty() && found.diagnosis.parameters.order_is_reused != Some(true);
    is_plain && !leakage.is_estimate && leakage.epsilon_upper_bound.is_some()
}

fn advice(found: &Diagnosed) -> Vec<Advice> {
    let mut advice: Vec<Advice> = found
        .diagnosis
        .defects
        .iter()
        .map(|defect| Advice { text: defect.message.clone(), command: None })
        .collect();
    if let (Some(_), Some(claim), Some(leakage)) = (found.excess(), found.claimed_epsilon(), &found.leakage)
        && found.diagnosis.scheme != LoggedScheme::Poisson
    {
        let claimed = "Draw batches by Poisson sampling, for which the claim would be right";
        let command = CalibrateRequest {
            // Whoever meets less meets the claim.
            target_epsilon: rounded_down(claim).parse().ok(),
            delta: leakage.delta,
            shape: ShapeRequest {
                steps_per_epoch: found.steps_per_epoch,
                epochs: leakage.epochs,
                batch_size: found.batch_size,
                buffer_size: found.diagnosis.parameters.buffer_size,
                ..ShapeRequest::default()
            },
            scheme: found.diagnosis.scheme.name().into(),
            ..CalibrateRequest::default()
        };
        advice.push(if is_bounded(found, leakage) {
            let text =
                format!("{claimed}, or find the noise with which these batches are proven to meet the same:");
            Advice { text, command: Some(command.command_line()) }
        } else {
            Advice { text: format!("{claimed}."), command: None }
        });
    }
    if found.leakage.is_none() {
        let asked = found.request.clone().unwrap_or_else(|| DiagnoseRequest {
            log: Some(found.log.clone().into()),
            dataset_size: Some(found.dataset_size),
            ..DiagnoseRequest::default()
        });
        let asked = DiagnoseRequest { noise_multiplier: Some(1.0), ..asked };
        advice.push(Advice {
            text: "Say which noise you train with to be told what leaks:".into(),
            command: Some(asked.command_line()),
        });
    }
    advice
}

fn tables(found: &Diagnosed) -> Vec<Table> {
    let rows = found.diagnosis.candidates.iter().map(|one| {
        let value = one.log_likelihood.map_or("impossible".into(), |value| format!("{value:.1}"));
        let tested = one.log_likelihood.map_or(String::new(), |_| p_value(one.p_value));
        vec![format!("{}{}", one.scheme, described(&one.parameters)), value, tested, one.evidence.clone()]
    });
    let mut tables = vec![Table {
        caption: "All schemes held against the log".into(),
        header: vec!["scheme", "log-likelihood", "p-value", "evidence"],
        rows: rows.collect(),
        notes: Vec::new(),
    }];
    if !found.diagnosis.defects.is_empty() {
        let rows = found
            .diagnosis
            .defects
            .iter()
            .map(|one| vec![one.defect.to_string(), count(one.records), one.message.clone()]);
        tables.push(Table {
            caption: "Defects".into(),
            header: vec!["defect", "records", "what was seen"],
            rows: rows.collect(),
            notes: Vec::new(),
        });
    }
    tables
}

fn settings(found: &Diagnosed) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("log", &found.log),
        Fact::new("records in the data set", count(found.dataset_size)),
        Fact::new("epochs in the log", count(found.epochs)),
        Fact::new("steps per epoch", count(found.steps_per_epoch)),
        Fact::new("batch size", count(found.batch_size)),
        Fact::new("ranks", count(found.ranks)),
    ];
    if let Some(leakage) = &found.leakage {
        facts.push(Fact::new("noise multiplier", leakage.noise_multiplier.to_string()));
        facts.push(Fact::new("delta", probability(leakage.delta)));
        facts.push(Fact::new("epochs of the whole run", count(leakage.epochs)));
    }
    facts
}
