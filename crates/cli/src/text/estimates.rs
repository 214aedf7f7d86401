//! Formats estimates from score files as text for people.

use super::{Text, estimate, probability, rounded_down, significant};
use crate::environment::Environment;
use misdeal_core::ClosedSet;
use misdeal_results::Estimation;
use misdeal_statistics::{Descriptive, EpsilonEstimate, EstimatorName, Figure};
use std::collections::BTreeMap;

/// Formats one estimate in full, or all of them as a table.
pub fn estimates(report: &Estimation, environment: &Environment) -> String {
    let mut text = Text::new(environment.width());
    if report.estimate.is_some() {
        text.prose(&format!("Verdict: {}", report.verdict().line));
        text.push('\n');
    }
    if let Some(one) = &report.estimate {
        text.row("estimator", one.estimator.name());
        estimate(&mut text, one);
    } else {
        compare(&mut text, &report.estimates, environment);
    }
    if let Some(claim) = report.claimed_epsilon {
        text.row("claimed epsilon", &significant(claim));
    }
    if let Some(curves) = &report.trade_off {
        super::trade_off::tests(&mut text, curves);
    }
    super::trade_off::claimed(&mut text, report.curve.as_ref());
    if let Some(figures) = &report.descriptive {
        text.push('\n');
        descriptive(&mut text, figures);
    }
    if let Some(remark) = &report.remark {
        text.push('\n');
        text.prose(&format!("Remark: {remark}."));
    }
    text.into_string()
}

/// Adds the figures that say how well the scores tell the worlds apart.
pub fn descriptive(text: &mut Text, figures: &Descriptive) {
    let shown = |figure: &Figure| {
        let [value, lower, upper] = [figure.value, figure.lower, figure.upper].map(significant);
        format!("{value:<8} 95 % interval {lower} to {upper}")
    };
    text.row("AUROC", &shown(&figures.auroc));
    for rate in &figures.true_positive_rates {
        let label = format!("TPR at FPR {} %", significant(100.0 * rate.false_positive_rate));
        text.row(&label, &shown(&rate.figure));
    }
}

/// Adds a table of all estimates: valid ones first, and larger ones before smaller ones.
fn compare(text: &mut Text, estimates: &BTreeMap<EstimatorName, EpsilonEstimate>, environment: &Environment) {
    let mut all: Vec<_> = estimates.values().collect();
    all.sort_by(|one, other| {
        other.valid.cmp(&one.valid).then(other.empirical_epsilon.total_cmp(&one.empirical_epsilon))
    });
    let Some(first) = all.first() else { return };
    let scores = format!("{} in, {} out", first.observations_in, first.observations_out);
    text.row("scores counted", &scores);
    text.row("threshold choice", first.threshold_choice.name());
    text.row("delta", &probability(first.delta));
    let mut table = environment.table(120);
    table.set_header(["estimator", "epsilon", "valid", "guarantee"]);
    for one in &all {
        let valid = if one.valid { "yes" } else { "no" };
        let epsilon = rounded_down(*one.empirical_epsilon);
        table.add_row([one.estimator.name(), &epsilon, valid, &one.guarantee]);
    }
    text.push('\n');
    text.table(&mut table);
    if first.valid {
        // Estimators are several looks at the same scores: which one to report is decided before.
        text.push('\n');
        text.prose("  Decide on an estimator before you see these: the largest of several is not valid at the level of one.");
    }
}
