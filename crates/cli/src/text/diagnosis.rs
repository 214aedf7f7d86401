//! Formats a diagnosis as text for people.

use super::account::table;
use super::{Text, probability, theory};
use crate::environment::Environment;
use indicatif::HumanCount;
use misdeal_core::Bounds;
use misdeal_results::{Diagnosed, SchemeParameters, numbers};
use std::fmt::Write;

/// Formats the verdict, the log's sizes, the possible schemes, the defects and the leakage.
pub fn diagnosis(report: &Diagnosed, environment: &Environment) -> String {
    let found = &report.diagnosis;
    let mut text = Text::new(environment.width());
    text.prose(&format!("Verdict: {}", report.verdict().line));
    let _ = write!(text, "\nDiagnosis of {}\n\n", misdeal_core::printable(&report.log));
    text.row("records in the data set", &HumanCount(report.dataset_size).to_string());
    let mut steps = format!(
        "{} in each of {} epochs, up to {} records each",
        HumanCount(report.steps_per_epoch),
        report.epochs,
        HumanCount(report.batch_size)
    );
    if report.ranks > 1 {
        let _ = write!(steps, ", from {} ranks", report.ranks);
    }
    text.row("steps", &steps.replace("each of 1 epochs", "1 epoch"));
    let scheme = format!("{}{}", found.scheme, parameters(&found.parameters));
    let certain = if found.certain { "certain" } else { "NOT certain" };
    text.row("batch scheme", &format!("{scheme}; {certain}"));
    candidates(&mut text, report, environment);
    for defect in &found.defects {
        text.row("defect", &format!("{}: {}", defect.defect, defect.message));
    }
    for hint in &found.hints {
        text.row("hint", hint);
    }
    for remark in &found.remarks {
        text.row("remark", remark);
    }
    costs(&mut text, report);
    text.into_string()
}

fn parameters(parameters: &SchemeParameters) -> String {
    let mut text = String::new();
    if let Some(size) = parameters.buffer_size {
        let _ = write!(text, " (buffer of {})", HumanCount(size));
    }
    if let Some(portion) = parameters.refilled_by {
        let _ = write!(text, ", refilled by {}", HumanCount(portion));
    }
    if let Some(share) = parameters.sampling_probability {
        let _ = write!(text, " (probability {share:.5})");
    }
    if parameters.order_is_reused == Some(true) {
        text.push_str(", drawn once");
    }
    if let Some(size) = parameters.largest_batch {
        let _ = write!(text, ", cut at {} records", HumanCount(size));
    }
    if let Some(steps) = parameters.cycle_length {
        let _ = write!(text, " every {} steps", HumanCount(steps));
    }
    if let Some(uses) = parameters.uses {
        let _ = write!(text, " ({uses} batches of an epoch)");
    }
    text
}

fn candidates(text: &mut Text, report: &Diagnosed, environment: &Environment) {
    let mut table = table(environment, ["scheme", "log-likelihood", "p-value", "evidence"]);
    for one in &report.diagnosis.candidates {
        let value = match one.log_likelihood {
            Some(value) => format!("{value:.1}"),
            None if one.p_value > 0.0 => "no formula".into(),
            None => "impossible".into(),
        };
        let p_value = one.log_likelihood.map_or(String::new(), |_| numbers::p_value(one.p_value));
        table.add_row([
            format!("{}{}", one.scheme, parameters(&one.parameters)),
            value,
            p_value,
            one.evidence.clone(),
        ]);
    }
    text.push('\n');
    text.table(&mut table);
    text.push('\n');
}

fn costs(text: &mut Text, report: &Diagnosed) {
    let Some(leakage) = &report.leakage else {
        text.row("leakage", "say --noise-multiplier S to be told");
        return;
    };
    let at = format!(
        "at noise multiplier {}, delta {}, over {}",
        leakage.noise_multiplier,
        probability(leakage.delta),
        numbers::epochs(leakage.epochs)
    );
    let bounds = Bounds {
        epsilon_lower_bound: leakage.epsilon_lower_bound,
        epsilon_upper_bound: leakage.epsilon_upper_bound,
        method: leakage.method.clone(),
    };
    let estimate = match leakage.confidence {
        _ if leakage.is_estimate => ", an estimate that the truth may exceed,".into(),
        Some(confidence) => format!(", with {} confidence,", numbers::percent(confidence)),
        None => String::new(),
    };
    text.row("epsilon of what was found", &format!("{}{estimate} {at}", theory(&bounds)));
    text.row("found by", &leakage.method.to_string());
    for (scheme, bounds) in report.theory.iter() {
        text.row(&format!("theory, {scheme}"), &theory(bounds));
    }
}
