//! Formats results as text for people.

mod account;
mod check;
mod deal;
mod dealt;
mod devices;
mod diagnosis;
mod estimates;
mod layout;
mod reproduced;
mod self_test;
mod sweep;
mod trade_off;

use crate::environment::Environment;
use indicatif::HumanCount;
use layout::Text;
use misdeal_core::{Bounds, ClosedSet, Independence, Setting, Spread, ThreatModel};
use misdeal_results::numbers::{confidence, probability, rounded_down, rounded_up, significant, times};
use misdeal_results::{AT_CHANCE, Audit, Calibration, Calibrations, Document, Merged, Training};
use misdeal_statistics::{EpsilonEstimate, EstimatorName};
use std::fmt::Write;

/// Formats a result as text for people.
pub fn document(document: &Document, environment: &Environment) -> String {
    match document {
        Document::AuditMechanism(found) | Document::AuditTraining(found) => audit(found, environment),
        Document::Estimate(found) => estimates::estimates(found, environment),
        Document::Account(found) => account::account(found, environment),
        Document::Check(found) => check::checked(found, environment),
        Document::Sweep(found) => sweep::swept(found, environment),
        Document::Calibrate(found) => calibrated(found, environment),
        Document::CalibrateAll(found) => all_calibrated(found, environment),
        Document::Deal(found) => deal::plan(found, environment),
        Document::Diagnose(found) => diagnosis::diagnosis(found, environment),
        Document::Reproduce(found) => reproduced::reproduced(found, environment),
        Document::Merge(found) => merged(found, environment),
        Document::Devices(found) => devices::devices(found, environment),
        Document::SelfTest(found) => self_test::self_test(found, environment),
        // Python alone judges outputs and checks trainings, and scans and pages have words of their own.
        Document::JudgeOutputs(_) | Document::CheckUp(_) | Document::Scan(_) | Document::Report(_) => {
            document.to_json()
        }
    }
}

/// Formats an audit: the verdict, the setting, the estimate, and theory's bounds.
fn audit(report: &Audit, environment: &Environment) -> String {
    let what = if report.training.is_some() { "DP-SGD" } else { "the batched Gaussian mechanism" };
    let mut text = Text::new(environment.width());
    text.prose(&verdict(report));
    let _ = write!(text, "\nAudit of {what}\n\n");
    setting(&mut text, &report.setting);
    if let Some(unused) = report.unused_records.filter(|&unused| unused > 0) {
        text.row("records left over", &left_over(unused, report.setting.dataset_size()));
    }
    if let Some(training) = &report.training {
        trained(&mut text, training, report.setting.threat_model);
    }
    let line = format!(
        "{}{}, {}; {} in {:.1} s on {}",
        HumanCount(report.observations),
        if report.training.is_some() { " models" } else { "" },
        halves(report),
        rate(report.observations_per_second),
        report.seconds,
        report.engine
    );
    text.row("observations", &line);
    if report.stopped_early {
        text.row("stopped early", "stopping rule met; the bound is still valid");
    }
    text.push('\n');
    estimate(&mut text, &report.estimate);
    if let Some(search) = &report.buffer_search {
        let best = format!("{} records, of {} guesses", HumanCount(search.buffer_size), search.guesses.len());
        text.row("best guess of the buffer", &best);
        let bounds = search
            .guesses
            .iter()
            .map(|guess| format!("{}: {}", guess.batches, rounded_down(*guess.empirical_epsilon)));
        text.row("bound by batches guessed", &bounds.collect::<Vec<_>>().join(", "));
    }
    if let Some(figures) = &report.descriptive {
        estimates::descriptive(&mut text, figures);
    }
    for (scheme, bounds) in report.theory.iter() {
        text.row(&format!("theory, {scheme}"), &theory(bounds));
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
    text.row("claimed epsilon", &claim);
    if let Some(curves) = &report.trade_off {
        trade_off::tests(&mut text, curves);
    }
    if let Some(store) = &report.store {
        text.row("scores saved in", store);
    }
    text.into_string()
}

/// Says how many records fill no batch.
fn left_over(unused: u64, used: u64) -> String {
    format!(
        "{} of {} fill no batch of an epoch and are dropped",
        HumanCount(unused),
        HumanCount(used + unused)
    )
}

/// Formats the noise that each scheme needs for a target epsilon.
fn all_calibrated(report: &Calibrations, environment: &Environment) -> String {
    let mut text = Text::new(environment.width());
    text.prose(&format!("Verdict: {}", report.verdict().sentence));
    text.push('\n');
    text.row("target epsilon", &format!("{} at delta {}", report.target_epsilon, probability(report.delta)));
    let steps = format!(
        "{} in each of {} epochs, batch size {}",
        report.steps_per_epoch, report.epochs, report.batch_size
    );
    text.row("steps", &steps.replace("each of 1 epochs", "1 epoch"));
    let used = report.steps_per_epoch * report.batch_size;
    if let Some(unused) = report.dataset_size.map(|records| records - used).filter(|&unused| unused > 0) {
        text.row("records left over", &left_over(unused, used));
    }
    let mut table = environment.table(100);
    table.set_header(["scheme", "noise multiplier", "epsilon", "verdict"]);
    let each = report.each();
    for (name, scheme) in &report.schemes {
        let found = each.iter().find(|one| misdeal_core::SchemeName::from(one.scheme) == *name);
        let side = if report.bound == misdeal::request::BoundSide::Upper { rounded_up } else { rounded_down };
        table.add_row([
            name.to_string(),
            found.map_or("not known".into(), Calibration::noise),
            scheme.epsilon.map_or(String::new(), side),
            match &scheme.reason {
                None => found.map_or(String::new(), |one| one.verdict().label),
                Some(reason) => reason.clone(),
            },
        ]);
    }
    text.push('\n');
    text.table(&mut table);
    text.into_string()
}

/// Formats the noise that one scheme needs for a target epsilon.
fn calibrated(report: &Calibration, environment: &Environment) -> String {
    let mut text = Text::new(environment.width());
    text.prose(&format!("Verdict: {}", report.verdict().line));
    text.push('\n');
    text.row("batch scheme", &report.scheme.to_string());
    let target = format!("{} at delta {}", report.target_epsilon, probability(report.delta));
    text.row("target epsilon", &target);
    text.row("noise multiplier", &report.noise());
    let used = report.steps_per_epoch * report.batch_size;
    if let Some(unused) = report.dataset_size.map(|records| records - used).filter(|&unused| unused > 0) {
        text.row("records left over", &left_over(unused, used));
    }
    text.into_string()
}

/// Formats the report on a merge of stores.
fn merged(report: &Merged, environment: &Environment) -> String {
    let mut text = Text::new(environment.width());
    setting(&mut text, &report.setting);
    let stores = if report.stores == 1 { "1 store".into() } else { format!("{} stores", report.stores) };
    let line = format!("{} from {stores}", HumanCount(report.observations));
    text.row("observations", &line);
    for &[first, end] in &report.missing_trials {
        let range = format!("trials {} to {} of either world", HumanCount(first), HumanCount(end - 1));
        text.row("missing", &range);
    }
    text.row("scores saved in", &report.output);
    text.push('\n');
    text.prose("Estimate epsilon from it with the audit's own command, --store and --resume.");
    text.into_string()
}

/// Says how an audit's observations divide into both worlds.
fn halves(report: &Audit) -> String {
    match report.training.as_ref().map_or(1, |training| training.recipe.canaries as u64) {
        1 => "half of them in each world".into(),
        canaries => {
            let scores = report.observations.saturating_mul(canaries);
            format!("{} scores, half of them with the canary present", HumanCount(scores))
        }
    }
}

/// Says what proves that a training's scores are independent.
fn independence(training: &Training) -> &'static str {
    match training.independence {
        Some(Independence::Single) => "each has a training of its own",
        Some(Independence::Follow) => {
            "proven: canaries have independent, uniform places (the rule \"follow\")"
        }
        Some(Independence::Memberships) => "proven: each record joins batches independently",
        Some(Independence::SymmetricScores) => "proven: scores do not depend on the order of steps",
        Some(Independence::PrivateCoins) | None => "not proven, so no bound is valid",
    }
}

/// Adds the training: data set, model and accuracies.
fn trained(text: &mut Text, training: &Training, threat_model: ThreatModel) {
    let Training { recipe, .. } = training;
    let data = format!("{}, {} records", training.dataset, HumanCount(training.dataset_size));
    text.row("data set", &data);
    let model = format!(
        "{}, {} parameters, learning rate {}, clipping norm {}",
        training.model,
        HumanCount(training.parameters),
        recipe.learning_rate,
        recipe.clip_norm
    );
    text.row("model", &model);
    if let Some(target) = training.target_epsilon {
        text.row(
            "noise calibrated to",
            &format!("epsilon {target}, as if batches were drawn by Poisson sampling"),
        );
    }
    let plural = if recipe.canaries == 1 { String::new() } else { format!("{} of them, ", recipe.canaries) };
    let debias = if recipe.debias { ", their bias modelled" } else { "" };
    text.row("canary", &format!("{plural}{}{debias}", recipe.canary.name()));
    if recipe.canaries > 1 {
        text.row("independent scores", independence(training));
    }
    let figures = |figures: &Spread| {
        format!(
            "{:<8} standard deviation {}",
            significant(figures.mean),
            significant(figures.standard_deviation)
        )
    };
    if let Some(accuracy) = &training.train_accuracy {
        text.row("training accuracy", &figures(accuracy));
    }
    if let Some(accuracy) = &training.test_accuracy {
        text.row("test accuracy", &figures(accuracy));
    }
    let has_accuracy = training.train_accuracy.is_some() || training.test_accuracy.is_some();
    if has_accuracy && threat_model == ThreatModel::WorstCase {
        text.row("accuracies are", AT_CHANCE);
    }
    if let Some(bias) = &training.bias {
        text.row("bias of an output", &figures(bias));
    }
}

fn setting(text: &mut Text, setting: &Setting) {
    let mut scheme = setting.scheme.to_string();
    if setting.target_index != 0 {
        let _ = write!(scheme, ", target at position {}", setting.target_index);
    }
    text.row("batch scheme", &scheme);
    if let Some(assumed) = setting.adversary_scheme {
        text.row("adversary assumes", &assumed.to_string());
    }
    text.row("noise multiplier", &setting.noise_multiplier.to_string());
    let steps = format!(
        "{} in each of {} epochs, batch size {}",
        setting.steps_per_epoch, setting.epochs, setting.batch_size
    );
    text.row("steps", &steps.replace("each of 1 epochs", "1 epoch"));
    text.row("threat model", setting.threat_model.name());
}

fn estimate(text: &mut Text, estimate: &EpsilonEstimate) {
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
    text.row("empirical epsilon", &format!("{:<8} {kind}", rounded_down(*estimate.empirical_epsilon)));
    let raw = significant(*estimate.raw_epsilon);
    let errors = format!(
        "{raw:<8} no confidence; {} false positives of {}, {} false negatives of {}, threshold {}",
        HumanCount(estimate.false_positives),
        HumanCount(estimate.observations_out),
        HumanCount(estimate.false_negatives),
        HumanCount(estimate.observations_in),
        significant(*estimate.threshold)
    );
    text.row("raw epsilon", &errors);
    text.row("guarantee", &estimate.guarantee);
}

/// Formats a lower and an upper bound.
fn theory(bounds: &Bounds) -> String {
    match (bounds.epsilon_lower_bound.map(rounded_down), bounds.epsilon_upper_bound.map(rounded_up)) {
        (Some(lower), Some(upper)) => format!("at least {lower}, at most {upper}"),
        (Some(lower), None) => format!("at least {lower}, no upper bound known"),
        (None, Some(upper)) => format!("at most {upper}, no lower bound known"),
        (None, None) => format!("no bound known: {}", bounds.method),
    }
}

/// Formats the verdict of an audit.
fn verdict(report: &Audit) -> String {
    let line = report.verdict().line;
    match report.claimed_epsilon {
        None => format!("Verdict: {line} Give --claimed-epsilon to have a claim tested."),
        Some(_) => format!("Verdict: {line}"),
    }
}

fn rate(per_second: f64) -> String {
    let (value, unit) = match per_second {
        x if x >= 1e9 => (x / 1e9, "billion"),
        x if x >= 1e6 => (x / 1e6, "million"),
        x => (x, ""),
    };
    format!("{} {unit} a second", significant(value)).replace("  ", " ")
}
