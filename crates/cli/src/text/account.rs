//! Formats an account as text for people.

use super::{Text, probability, rounded_down, rounded_up, significant, times};
use crate::environment::Environment;
use comfy_table::Table;
use misdeal_results::Account;
use std::fmt::Write;

/// Formats bounds by scheme, beside the epsilon of a library that assumes Poisson sampling.
pub fn account(report: &Account, environment: &Environment) -> String {
    let mut text = Text::new(environment.width());
    text.prose(&format!("Verdict: {}", report.verdict().sentence));
    text.push('\n');
    text.row("noise multiplier", &report.noise_multiplier.to_string());
    let steps = format!(
        "{}, each with a record with probability {}",
        report.steps,
        significant(report.sampling_probability)
    );
    text.row("steps", &steps);
    text.row("delta", &probability(report.delta));
    let claim = report.claimed_epsilon.map_or("unknown".into(), rounded_up);
    text.row(
        "claimed epsilon",
        &if report.claim_is_given {
            claim
        } else {
            format!("{claim:<8} what a library that assumes Poisson sampling prints for each of these")
        },
    );
    if let Some(shape) = &report.shape
        && let Some(unused) = shape.unused_records().filter(|&unused| unused > 0)
    {
        text.row("records left over", &super::left_over(unused, shape.steps_per_epoch * shape.batch_size));
    }
    let mut table =
        table(environment, ["scheme", "epsilon at least", "at most", "times the claim", "method"]);
    for (scheme, bounds) in report.schemes.iter() {
        let excess = match (bounds.epsilon_lower_bound, report.claimed_epsilon) {
            (Some(lower), Some(claim)) if lower > claim => times(lower, claim),
            _ => String::new(),
        };
        let lower = bounds.epsilon_lower_bound.map_or("not known".into(), rounded_down);
        let upper = bounds.epsilon_upper_bound.map_or("not known".into(), rounded_up);
        table.add_row([scheme.to_string(), lower, upper, excess, bounds.method.to_string()]);
    }
    text.push('\n');
    text.table(&mut table);
    text.push('\n');
    text.prose(ACCOUNT_NOTES);
    deltas(&mut text, report, environment);
    trade_offs(&mut text, report, environment);
    comparisons(&mut text, report, environment);
    text.into_string()
}

pub(super) fn table<const N: usize>(environment: &Environment, header: [&str; N]) -> Table {
    let mut table = environment.table(120);
    table.set_header(header);
    table
}

/// Formats one side of a bound, or "not known".
fn side(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or("not known".into(), show)
}

fn deltas(text: &mut Text, report: &Account, environment: &Environment) {
    let Some(epsilon) = report.epsilon else { return };
    let mut table = table(environment, ["scheme", "delta at least", "at most", "method"]);
    for (scheme, bounds) in &report.deltas {
        let lower = side(bounds.delta_lower_bound, |delta| format!("{:.3e}", 0.9995 * delta));
        let upper = side(bounds.delta_upper_bound, |delta| format!("{:.3e}", (1.0005 * delta).min(1.0)));
        table.add_row([scheme.to_string(), lower, upper, bounds.method.to_string()]);
    }
    let _ = write!(text, "\n  At epsilon {epsilon}:\n\n");
    text.table(&mut table);
}

/// The false-positive rates at which the text shows the curve. JSON has many more.
const SHOWN_RATES: [f64; 5] = [1e-4, 1e-3, 1e-2, 0.1, 0.5];

fn trade_offs(text: &mut Text, report: &Account, environment: &Environment) {
    if report.trade_offs.is_empty() {
        return;
    }
    let mut header = vec!["scheme".to_owned()];
    header.extend(SHOWN_RATES.map(|rate| format!("{rate}")));
    let mut table = table(environment, []);
    table.set_header(header);
    for (scheme, curve) in &report.trade_offs {
        let at = |values: &Option<Vec<f64>>, rate: f64| {
            let place =
                curve.false_positive_rates.iter().position(|&known| (known / rate - 1.0).abs() < 1e-6);
            place.zip(values.as_ref()).map_or("?".into(), |(place, values)| format!("{:.4}", values[place]))
        };
        let mut row = vec![scheme.to_string()];
        for rate in SHOWN_RATES {
            let least = at(&curve.false_negative_rate_lower_bounds, rate);
            let most = at(&curve.false_negative_rate_upper_bounds, rate);
            row.push(if least == most { least } else { format!("{least} to {most}") });
        }
        table.add_row(row);
    }
    text.push('\n');
    text.prose("  The least false-negative rate of any adversary, by its false-positive rate (--format json has the curves):");
    text.push('\n');
    text.table(&mut table);
}

fn comparisons(text: &mut Text, report: &Account, environment: &Environment) {
    if report.comparisons.is_empty() {
        return;
    }
    let mut table = table(environment, ["scheme", "epsilon at least", "at most", "mu", "method"]);
    for one in &report.comparisons {
        let lower = one.epsilon_lower_bound.map_or(String::new(), rounded_down);
        let upper = one.epsilon_upper_bound.map_or(String::new(), rounded_up);
        let gdp_mu = one.gdp_mu.map_or(String::new(), significant);
        table.add_row([one.scheme.to_string(), lower, upper, gdp_mu, one.method.clone()]);
    }
    text.push_str("\n  What other methods say:\n\n");
    text.table(&mut table);
}

/// Notes on the methods that [`account`] names.
const ACCOUNT_NOTES: &str = "  Exact pair: one pair of data sets, without Monte Carlo. A valid lower bound for shuffling, not an upper bound: others can leak more.
  Fixed order: by joint convexity at least as revealing as any scheme that uses each record once an epoch.
";
