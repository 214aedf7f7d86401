//! Formats printed numbers beside ours as text for people.

use super::dealt::dealt;
use super::{Text, rounded_down, rounded_up, significant};
use crate::environment::Environment;
use comfy_table::{CellAlignment, Table};
use misdeal_core::{Bounds, ClosedSet, Spread};
use misdeal_results::{AboveCount, AboveTheClaim, Reproduced, Reproduction, numbers};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Formats a table for each of the paper's tables and figures, with remarks and a count of verdicts.
pub fn reproduced(report: &Reproduction, environment: &Environment) -> String {
    let mut text = Text::new(environment.width());
    for artefact in &report.artefacts {
        let _ = writeln!(text, "{} ({}): {}\n", artefact.name, artefact.place, artefact.title);
        let rows: Vec<_> = report.rows.iter().filter(|row| row.artefact == artefact.name).collect();
        if !rows.is_empty() {
            text.table(&mut table(&rows, environment));
            text.push('\n');
        }
        for deal in report.deals.iter().filter(|deal| deal.artefact == artefact.name) {
            dealt(&mut text, deal);
        }
        trained_on(&mut text, &rows);
        if let Some(counts) = &artefact.above_the_claim {
            above_the_claim(&mut text, counts);
        }
        let reasons = rows.iter().filter_map(|row| Some((row.name.as_str(), row.reason.as_deref()?)));
        each_once(&mut text, "", reasons);
        let compared = rows.iter().filter(|row| row.printed.is_some() && row.ours.is_some());
        let tolerances = compared.map(|row| (row.name.as_str(), row.tolerance_reason.as_str()));
        each_once(&mut text, "tolerance of ", tolerances.filter(|(_, reason)| !reason.is_empty()));
        for row in &rows {
            curves(&mut text, row);
        }
        for remark in &artefact.remarks {
            text.prose(&format!("  {remark}"));
        }
        text.push('\n');
    }
    if report.printed() > 0 {
        let _ = writeln!(text, "{}", report.tally());
    }
    if report.rows.is_empty() {
        return text.into_string();
    }
    text.prose(
        "\"ours\" is the paper's estimate, the largest over all thresholds; \"valid\" is a 95 % lower bound from the same scores; \
         of several runs both are means. Behind +- are the tolerance of a printed number and the standard deviation of ours over its runs.",
    );
    text.into_string()
}

fn table(rows: &[&Reproduced], environment: &Environment) -> Table {
    let mut table = environment.table(160);
    let of_trainings = rows.iter().any(|row| row.test_accuracy.is_some());
    let mut header = vec!["", "claim", "printed", "ours", "valid", "theory", "observations", "verdict"];
    header.extend(of_trainings.then_some("test accuracy"));
    let has_bias = rows.iter().any(|row| row.bias.is_some());
    header.extend(has_bias.then_some("bias"));
    table.set_header(header);
    let number = |value: Option<f64>| value.map_or(String::new(), significant);
    for row in rows {
        let spread = row
            .standard_deviation
            .map_or(String::new(), |deviation| format!(" +- {}", significant(deviation)));
        let theory = row.theory_of_the_scheme().map_or(String::new(), bounds);
        let observations = match (row.ours, row.runs) {
            (None, _) => "not played".into(),
            (_, 1) => format!("{:e}", row.observations),
            (_, runs) => format!("{runs} x {:e}", row.observations),
        };
        let mut cells = vec![
            row.name.clone(),
            number(row.printed_claim),
            row.printed.map_or(String::new(), |printed| match row.tolerance {
                tolerance if tolerance > 0.0 => {
                    format!("{} +- {}", significant(printed), significant(tolerance))
                }
                _ => significant(printed),
            }),
            number(row.ours) + &spread,
            row.valid_epsilon.map_or(String::new(), rounded_down),
            theory,
            observations,
            row.verdict.map_or(String::new(), |verdict| verdict.name().to_owned()),
        ];
        cells.extend(of_trainings.then(|| number(row.test_accuracy.map(|accuracy| accuracy.mean))));
        let spread =
            |bias: Spread| format!("{} +- {}", significant(bias.mean), significant(bias.standard_deviation));
        cells.extend(has_bias.then(|| row.bias.map_or(String::new(), spread)));
        table.add_row(cells);
    }
    for column in 1..6 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn bounds(bounds: &Bounds) -> String {
    let lower = bounds.epsilon_lower_bound.map_or("?".into(), rounded_down);
    let upper = bounds.epsilon_upper_bound.map_or("?".into(), rounded_up);
    format!("{lower} to {upper}")
}

/// Adds the names of the training data, and explains the bias of an output.
fn trained_on(text: &mut Text, rows: &[&Reproduced]) {
    let data: BTreeSet<&str> = rows.iter().filter_map(|row| row.dataset.as_deref()).collect();
    if !data.is_empty() {
        let names: Vec<&str> = data.into_iter().collect();
        let _ = writeln!(text, "  trained on: {}", names.join(", "));
    }
    if rows.iter().any(|row| row.bias.is_some()) {
        text.prose(
            "  bias: the other records' part in an output and its standard deviation, in clipping norms, which may hide the target as noise would",
        );
    }
}

/// Adds in how many settings more leaks than Poisson sampling justifies, by provenance.
fn above_the_claim(text: &mut Text, counts: &AboveTheClaim) {
    let all = std::iter::once(("settings played", &counts.all));
    let each = counts.by_provenance.iter().map(|(provenance, counts)| (provenance.name(), counts));
    for (name, AboveCount { settings, theory, valid, ours }) in all.chain(each) {
        text.prose(&format!(
            "  {name}: theory proves more than Poisson sampling justifies in {theory} of {settings}, valid bounds show it in {valid}, the \
             paper's estimate in {ours}"
        ));
    }
}

/// Adds each sentence about rows once, with the name of the first row that it is about.
fn each_once<'a>(text: &mut Text, before: &str, sentences: impl Iterator<Item = (&'a str, &'a str)>) {
    let mut told: Vec<(&str, &str, usize)> = Vec::new();
    for (name, sentence) in sentences {
        match told.iter_mut().find(|(_, other, _)| *other == sentence) {
            Some((_, _, others)) => *others += 1,
            None => told.push((name, sentence, 0)),
        }
    }
    for (name, sentence, others) in told {
        let and_others = if others == 0 { String::new() } else { format!(" and {others} more") };
        text.prose(&format!("  {before}{name}{and_others}: {sentence}"));
    }
}

/// Adds the outcomes of the tests of whole curves.
fn curves(text: &mut Text, row: &Reproduced) {
    for curve in row.trade_off.iter().flat_map(|curves| &curves.promised) {
        if let Some(test) = &curve.test {
            let verdict = if test.refuted { "refuted" } else { "not refuted" };
            let _ = writeln!(
                text,
                "  {}: {} is {verdict} (p-value {})",
                row.name,
                curve.name,
                numbers::p_value(test.p_value)
            );
        }
    }
}
