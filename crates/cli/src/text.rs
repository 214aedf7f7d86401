//! Reports for people.

mod account;
mod check;
mod dealt;
mod devices;
mod diagnosis;
mod estimates;
mod reproduced;
mod self_test;
mod trade_off;

use crate::environment::Environment;
use indicatif::HumanCount;
use misdeal_core::{Bounds, ClosedSet, Setting, Spread, ThreatModel, printable};
use misdeal_results::numbers::{confidence, probability, rounded_down, rounded_up, significant, times};
use misdeal_results::{AT_CHANCE, Audit, Calibration, Document, Merged, Training};
use misdeal_statistics::{EpsilonEstimate, EstimatorName};
use std::fmt::Write;

/// Columns of the left side.
const LABEL: usize = 28;

/// A result for people.
pub fn document(document: &Document, environment: &Environment) -> String {
    match document {
        Document::AuditMechanism(found) | Document::AuditTraining(found) => audit(found),
        Document::Estimate(found) => estimates::estimates(found, environment),
        Document::Account(found) => account::account(found, environment),
        Document::Check(found) => check::checked(found, environment),
        Document::Calibrate(found) => calibrated(found),
        Document::Diagnose(found) => diagnosis::diagnosis(found, environment),
        Document::Reproduce(found) => reproduced::reproduced(found, environment),
        Document::Merge(found) => merged(found),
        Document::Devices(found) => devices::devices(found),
        Document::SelfTest(found) => self_test::self_test(found),
        // Python alone judges outputs, and scans and pages have words of their own.
        Document::JudgeOutputs(_) | Document::Scan(_) | Document::Report(_) => document.to_json(),
    }
}

/// An audit: what was played, what it shows, what theory says, and the verdict.
fn audit(report: &Audit) -> String {
    let what = if report.training.is_some() { "DP-SGD" } else { "the batched Gaussian mechanism" };
    let mut text = format!("Audit of {what}\n\n");
    setting(&mut text, &report.setting);
    if let Some(training) = &report.training {
        trained(&mut text, training, report.setting.threat_model);
    }
    let line = format!(
        "{}{}, half of them in each world; {} in {:.1} s on {}",
        HumanCount(report.observations),
        if report.training.is_some() { " models" } else { "" },
        rate(report.observations_per_second),
        report.seconds,
        report.engine
    );
    row(&mut text, "observations", &line);
    if report.stopped_early {
        row(&mut text, "stopped early", "what it was to stop at was reached; the bound holds all the same");
    }
    text.push('\n');
    estimate(&mut text, &report.estimate);
    if let Some(search) = &report.buffer_search {
        let best = format!("{} records, of {} guesses", HumanCount(search.buffer_size), search.guesses.len());
        row(&mut text, "best guess of the buffer", &best);
        let bounds = search
            .guesses
            .iter()
            .map(|guess| format!("{}: {}", guess.batches, rounded_down(*guess.empirical_epsilon)));
        row(&mut text, "bound by batches guessed", &bounds.collect::<Vec<_>>().join(", "));
    }
    if let Some(figures) = &report.descriptive {
        estimates::descriptive(&mut text, figures);
    }
    for (scheme, bounds) in report.theory.iter() {
        row(&mut text, &format!("theory, {scheme}"), &theory(bounds));
    }
    let claim = match report.claimed_epsilon {
        None => "none (--claimed-epsilon X)".into(),
        Some(claim) if report.claims_poisson() => {
            format!(
                "{:<8} as if batches were drawn by Poisson sampling (--claimed-epsilon X tests another)",
                significant(claim)
            )
        }
        Some(claim) => significant(claim),
    };
    row(&mut text, "claimed epsilon", &claim);
    if let Some(curves) = &report.trade_off {
        trade_off::tests(&mut text, curves);
    }
    if let Some(store) = &report.store {
        row(&mut text, "scores saved in", store);
    }
    let _ = write!(text, "\n{}\n", verdict(report));
    text
}

/// The noise for a target.
fn calibrated(report: &Calibration) -> String {
    let mut text = String::new();
    row(&mut text, "batch scheme", &report.scheme.to_string());
    let target = format!("{} at delta {}", report.target_epsilon, probability(report.delta));
    row(&mut text, "target epsilon", &target);
    row(&mut text, "noise multiplier", &report.noise());
    let _ = write!(text, "\n{}\n", report.verdict().line);
    text
}

/// What a merge made.
fn merged(report: &Merged) -> String {
    let mut text = String::new();
    setting(&mut text, &report.setting);
    let stores = if report.stores == 1 { "1 store".into() } else { format!("{} stores", report.stores) };
    let line = format!("{} from {stores}", HumanCount(report.observations));
    row(&mut text, "observations", &line);
    for &[first, end] in &report.missing_trials {
        let range = format!("trials {} to {} of either world", HumanCount(first), HumanCount(end - 1));
        row(&mut text, "missing", &range);
    }
    row(&mut text, "scores saved in", &report.output);
    text.push_str("\nEstimate epsilon from it with the audit's own command, --store and --resume.\n");
    text
}

/// What was trained, and what it is worth.
fn trained(text: &mut String, training: &Training, threat_model: ThreatModel) {
    let Training { recipe, .. } = training;
    let data = format!("{}, {} records", training.dataset, HumanCount(training.dataset_size));
    row(text, "data set", &data);
    let model = format!(
        "{}, {} parameters, learning rate {}, clipping norm {}",
        training.model,
        HumanCount(training.parameters),
        recipe.learning_rate,
        recipe.clip_norm
    );
    row(text, "model", &model);
    if let Some(target) = training.target_epsilon {
        row(
            text,
            "noise calibrated to",
            &format!("epsilon {target}, as if batches were drawn by Poisson sampling"),
        );
    }
    let plural = if recipe.canaries == 1 { String::new() } else { format!("{} of them, ", recipe.canaries) };
    let debias = if recipe.debias { ", their bias modelled" } else { "" };
    row(text, "canary", &format!("{plural}{}{debias}", recipe.canary.name()));
    let figures = |figures: &Spread| {
        format!(
            "{:<8} standard deviation {}",
            significant(figures.mean),
            significant(figures.standard_deviation)
        )
    };
    if let Some(accuracy) = &training.train_accuracy {
        row(text, "training accuracy", &figures(accuracy));
    }
    if let Some(accuracy) = &training.test_accuracy {
        row(text, "test accuracy", &figures(accuracy));
    }
    let has_accuracy = training.train_accuracy.is_some() || training.test_accuracy.is_some();
    if has_accuracy && threat_model == ThreatModel::WorstCase {
        row(text, "accuracies are", AT_CHANCE);
    }
    if let Some(bias) = &training.bias {
        row(text, "bias of an output", &figures(bias));
    }
}

fn setting(text: &mut String, setting: &Setting) {
    let mut scheme = setting.scheme.to_string();
    if setting.target_index != 0 {
        let _ = write!(scheme, ", target at position {}", setting.target_index);
    }
    row(text, "batch scheme", &scheme);
    if let Some(assumed) = setting.adversary_scheme {
        row(text, "adversary assumes", &assumed.to_string());
    }
    row(text, "noise multiplier", &setting.noise_multiplier.to_string());
    let steps = format!(
        "{} in each of {} epochs, batch size {}",
        setting.steps_per_epoch, setting.epochs, setting.batch_size
    );
    row(text, "steps", &steps.replace("each of 1 epochs", "1 epoch"));
    row(text, "threat model", setting.threat_model.name());
}

fn estimate(text: &mut String, estimate: &EpsilonEstimate) {
    let confidence = confidence(estimate.significance);
    let kind = match (estimate.valid, estimate.estimator) {
        (true, _) => format!("lower bound, {confidence} confidence, delta {}", probability(estimate.delta)),
        (false, EstimatorName::Raw) => {
            format!("no confidence in either direction, delta {}", probability(estimate.delta))
        }
        (false, _) if estimate.is_conditional() => {
            format!("holds only under an assumption (see guarantee), delta {}", probability(estimate.delta))
        }
        (false, _) => format!("NOT a valid bound, delta {}", probability(estimate.delta)),
    };
    row(text, "empirical epsilon", &format!("{:<8} {kind}", rounded_down(*estimate.empirical_epsilon)));
    let raw = significant(*estimate.raw_epsilon);
    let errors = format!(
        "{raw:<8} no confidence; {} false positives of {}, {} false negatives of {}, threshold {}",
        HumanCount(estimate.false_positives),
        HumanCount(estimate.observations_out),
        HumanCount(estimate.false_negatives),
        HumanCount(estimate.observations_in),
        significant(*estimate.threshold)
    );
    row(text, "raw epsilon", &errors);
    row(text, "guarantee", &estimate.guarantee);
}

/// Both sides of a bound.
fn theory(bounds: &Bounds) -> String {
    match (bounds.epsilon_lower_bound.map(rounded_down), bounds.epsilon_upper_bound.map(rounded_up)) {
        (Some(lower), Some(upper)) => format!("at least {lower}, at most {upper}"),
        (Some(lower), None) => format!("at least {lower}, no upper bound known"),
        (None, Some(upper)) => format!("at most {upper}, no lower bound known"),
        (None, None) => format!("no bound known: {}", bounds.method),
    }
}

/// What the audit means, in plain words.
fn verdict(report: &Audit) -> String {
    let line = report.verdict().line;
    match report.claimed_epsilon {
        None => format!("Verdict: {line} Give --claimed-epsilon to have a claim tested."),
        Some(_) => format!("Verdict: {line}"),
    }
}

/// A line with a label and a value, which may come from outside.
fn row(text: &mut String, label: &str, value: &str) {
    let _ = writeln!(text, "  {label:<LABEL$} {}", printable(value));
}

fn rate(per_second: f64) -> String {
    let (value, unit) = match per_second {
        x if x >= 1e9 => (x / 1e9, "billion"),
        x if x >= 1e6 => (x / 1e6, "million"),
        x => (x, ""),
    };
    format!("{} {unit} a second", significant(value)).replace("  ", " ")
}
