//! The section that shows the paper's numbers beside ours.

use super::advice::capitalised;
use super::section::{Fact, KeyFigure, Rerun, Section, Summary, Table};
use super::{above_the_claim, audits};
use crate::chart::Chart;
use crate::pictures::epsilons::{between, sides};
use crate::pictures::{self, reproduced};
use misdeal_core::{ClosedSet, Spread, ThreatModel};
use misdeal_results::numbers::{count, rounded_down, seconds, significant};
use misdeal_results::{AT_CHANCE, Heading, Reproduced, Reproduction, printed_numbers};
use std::collections::BTreeSet;

/// The section of a reproduction.
pub fn section(found: &Reproduction) -> Section {
    let title = match &found.artefacts[..] {
        [one] => format!("{}: {}", one.place, one.title),
        several => format!("{} tables and figures of the paper", several.len()),
    };
    let mut charts = Vec::new();
    let mut tables = Vec::new();
    for artefact in &found.artefacts {
        let rows: Vec<&Reproduced> = found.rows.iter().filter(|row| row.artefact == artefact.name).collect();
        let dealt = found.deals.iter().filter(|deal| deal.artefact == artefact.name);
        charts.extend(dealt.flat_map(pictures::deals::charts));
        if rows.is_empty() {
            continue;
        }
        charts.extend(pictures(artefact, &rows));
        tables.extend(above_the_claim::table(artefact));
        tables.push(table(artefact, &rows));
        tables.extend(worth(artefact, &rows));
        tables.extend(rows.iter().filter_map(|row| {
            let tested = audits::tested(row.trade_off.as_ref()?)?;
            Some(Table { caption: format!("{}: {}", row.name, tested.caption), ..tested })
        }));
    }
    Section {
        kind: "The paper, played again",
        title,
        name: None,
        advised: String::new(),
        verdict: found.verdict(),
        remarks: Vec::new(),
        summary_tables: Vec::new(),
        figures: figures(found),
        meaning: meaning(found),
        advice: Vec::new(),
        charts,
        tables,
        settings: vec![
            Fact::new("asked for", &found.name),
            Fact::new(
                "observations",
                match found.observations {
                    Some(most) => format!("{} in a run at most (--observations)", count(most)),
                    None if found.quick => "fewer than in the paper (--quick)".into(),
                    None => "those of the paper".into(),
                },
            ),
        ],
        rerun: rerun(found),
        provenance: vec![Fact::new("time", seconds(found.seconds))],
        summary: summary(found),
    }
}

fn meaning(found: &Reproduction) -> Vec<String> {
    if found.rows.is_empty() {
        let remarks = found.artefacts.iter().flat_map(|artefact| artefact.remarks.iter().cloned());
        return std::iter::once(TARGET.into()).chain(remarks).collect();
    }
    let mut meaning = vec![OURS.into()];
    if found.rows.iter().any(|row| row.valid_epsilon.zip(row.ours).is_some_and(|(valid, ours)| valid > ours))
    {
        meaning.push(VALID_ABOVE.into());
    }
    meaning
}

/// The summary of a reproduction: the numbers of a single row, or counts of verdicts over several.
fn summary(found: &Reproduction) -> Summary {
    match &found.rows[..] {
        [row] => Summary {
            found: row.valid_epsilon.or(row.ours),
            valid: row.valid_epsilon.is_some(),
            claimed: row.printed_claim,
            delta: Some(row.delta),
            theory: row.theory_of_the_scheme().map_or([None, None], sides),
            tally: tally(found),
        },
        _ => Summary { tally: tally(found), ..Summary::default() },
    }
}

fn rerun(found: &Reproduction) -> Rerun {
    let mut devices: Vec<&str> =
        found.rows.iter().filter_map(|row| Some(row.engine?.device().name())).collect();
    devices.sort_unstable();
    devices.dedup();
    let note = match devices[..] {
        [_, _, ..] => "Some rows were played on a CUDA device and some on the processor.".into(),
        [device] => format!("All rows were played on {device}."),
        [] => String::new(),
    };
    Rerun::of(found.request.as_ref(), note)
}

const OURS: &str = "\"Ours\" is the paper's estimate, the largest over all thresholds, which is not a valid bound; \"valid\" is a lower bound \
                    with 95 % confidence from the same scores. Of several runs both are means.";

const VALID_ABOVE: &str = "Where \"valid\" stands above \"ours\": it tests both error rates together, at thresholds whose ranks were fixed beforehand, \
                           while \"ours\" bounds each rate by itself with half of the significance.";

const TARGET: &str = "xT is the target, the record whose presence an adversary guesses: the fewer places it can be in, and the better its \
                      company is known, the less an epoch hides it.";

/// Counts of verdicts, on one line. Rows without a printed number are counted too.
fn tally(found: &Reproduction) -> String {
    let not_printed = found.rows.iter().filter(|row| row.printed.is_none()).count();
    let not_printed = Some(("not printed", not_printed)).filter(|&(_, rows)| rows > 0);
    let all = found.counted().chain(not_printed).map(|(verdict, rows)| format!("{rows} {verdict}"));
    all.collect::<Vec<_>>().join(", ")
}

fn figures(found: &Reproduction) -> Vec<KeyFigure> {
    let of = format!("of {}", printed_numbers(found.printed()));
    found.counted().map(|(verdict, rows)| KeyFigure::new(verdict, rows.to_string(), &of)).collect()
}

fn pictures(artefact: &Heading, rows: &[&Reproduced]) -> Vec<Chart> {
    let mut charts: Vec<Chart> = reproduced::curves(rows).into_iter().flatten().collect();
    if charts.is_empty() {
        charts = reproduced::sweeps(rows);
    }
    if charts.is_empty() {
        let title = capitalised(&format!("{}: {}", artefact.place, artefact.title));
        charts.push(reproduced::rows(&title, rows, |row| row.name.clone()));
    }
    charts
}

fn table(artefact: &Heading, rows: &[&Reproduced]) -> Table {
    let number = |value: Option<f64>| value.map_or(String::new(), significant);
    let cells = rows.iter().map(|row| {
        let spread =
            row.standard_deviation.map_or(String::new(), |deviation| format!(" ± {}", two_digits(deviation)));
        let observations = match (row.ours, row.runs) {
            (None, _) => "not played".into(),
            (_, 1) => count(row.observations),
            (_, runs) => format!("{runs} × {}", count(row.observations)),
        };
        vec![
            row.name.clone(),
            number(row.printed_claim),
            row.printed.map_or(String::new(), |printed| match row.tolerance {
                0.0 => significant(printed),
                tolerance => format!("{} ± {}", significant(printed), significant(tolerance)),
            }),
            number(row.ours) + &spread,
            row.valid_epsilon.map_or(String::new(), rounded_down),
            row.theory_of_the_scheme().map_or(String::new(), |bounds| between(sides(bounds))),
            observations,
            row.verdict.map_or(String::new(), |verdict| verdict.name().to_owned()),
        ]
    });
    let mut notes = artefact.remarks.clone();
    let data: BTreeSet<&str> = rows.iter().filter_map(|row| row.dataset.as_deref()).collect();
    if !data.is_empty() {
        notes.push(format!("Trained on: {}.", data.into_iter().collect::<Vec<_>>().join(", ")));
    }
    let with_tolerance = rows.iter().filter(|row| row.printed.is_some() && row.tolerance > 0.0);
    let tolerances = grouped(with_tolerance.map(|row| (row.name.as_str(), row.tolerance_reason.as_str())));
    if !tolerances.is_empty() {
        let why = match &tolerances[..] {
            [(reason, _)] => format!(": {reason}"),
            several => {
                let each = several.iter().map(|(reason, names)| format!(" {}: {reason}.", names.join("; ")));
                format!(".{}", each.collect::<String>().trim_end_matches('.'))
            }
        };
        notes.push(format!(
            "± after a printed number is how far ours may lie from it and still count as reproduced{why}."
        ));
    }
    if rows.iter().any(|row| row.standard_deviation.is_some()) {
        notes.push("± after ours is the standard deviation from run to run.".into());
    }
    // Why numbers differ or were not played, and what is known of the print.
    let reasons = grouped(rows.iter().filter_map(|row| Some((row.name.as_str(), row.reason.as_deref()?))));
    notes.extend(reasons.into_iter().map(|(reason, names)| format!("{}: {reason}", names.join("; "))));
    Table {
        caption: capitalised(&format!("{}: {}", artefact.place, artefact.title)),
        header: vec!["setting", "claim", "printed", "ours", "valid", "theory", "observations", "verdict"],
        rows: cells.collect(),
        notes,
    }
}

/// The table of test accuracy and of bias; `None` if nothing was trained. Bias is the part of an output that comes from other records.
fn worth(artefact: &Heading, rows: &[&Reproduced]) -> Option<Table> {
    let has_bias = rows.iter().any(|row| row.bias.is_some());
    let trained = rows.iter().filter(|row| row.test_accuracy.is_some() || row.bias.is_some());
    let cells: Vec<_> = trained.clone().map(|row| worth_of(row, has_bias)).collect();
    let mut header = vec!["setting", "test accuracy"];
    header.extend(has_bias.then_some("bias of an output"));
    let mut notes = vec!["± is the standard deviation over the models of the first run.".to_owned()];
    if has_bias {
        let bias = "The bias is the other records' part in an output, in clipping norms; ± is its standard deviation over outputs, which may \
                    hide the target as noise would.";
        notes.push(bias.into());
    }
    if trained.clone().any(|row| row.threat_model() == Some(ThreatModel::WorstCase)) {
        notes.push(format!("Accuracies of the worst case are {AT_CHANCE}."));
    }
    let caption = format!("{}: what the models are worth", capitalised(&artefact.place));
    (!cells.is_empty()).then_some(Table { caption, header, rows: cells, notes })
}

fn worth_of(row: &Reproduced, has_bias: bool) -> Vec<String> {
    let accuracy = row.test_accuracy.map_or(String::new(), |Spread { mean, standard_deviation }| {
        format!("{} ± {} %", significant(100.0 * mean), two_digits(100.0 * standard_deviation))
    });
    let bias = row.bias.map_or(String::new(), |Spread { mean, standard_deviation }| {
        format!("{} ± {}", two_digits(mean), two_digits(standard_deviation))
    });
    [row.name.clone(), accuracy].into_iter().chain(has_bias.then_some(bias)).collect()
}

/// A standard deviation with two digits. More digits mean nothing.
fn two_digits(value: f64) -> String {
    significant(format!("{value:.1e}").parse().unwrap_or(value))
}

/// Each reason once, with the names of its rows in their order.
fn grouped<'a>(rows: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in rows {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A figure's rows. These fields add to the usual ones or replace them.
    fn found(rows: &[serde_json::Value]) -> Reproduction {
        let whole = |fields: &serde_json::Value| {
            let mut row = serde_json::json!({
                "artefact": "figure-3", "name": "one", "theory": {}, "delta": 1e-5, "observations": 1_000_000, "runs": 1
            });
            row.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            row
        };
        let rows: Vec<_> = rows.iter().map(whole).collect();
        let artefact =
            serde_json::json!({ "name": "figure-3", "title": "epsilon", "place": "Figure 3", "remarks": [] });
        let document = serde_json::json!({
            "name": "figure-3", "quick": true, "artefacts": [artefact], "rows": rows, "seconds": 1.0
        });
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn the_label_promises_no_more_than_the_rows_show() {
        let row = |verdict: &str| serde_json::json!({ "printed": 2.0, "ours": 2.0, "verdict": verdict });
        for (verdicts, label) in [
            (&["reproduced", "reproduced"][..], "Reproduced"),
            (&["reproduced", "exceeded"], "Reproduced or exceeded"),
            (&["reproduced", "too few observations"], "Partly undecided"),
            (&["exceeded"], "Exceeded"),
            (&["exceeded", "not played"], "Partly undecided"),
            (&["not played"], "Not played"),
            (&["too few observations", "not played"], "Too few observations to tell"),
            (&["reproduced", "differs", "not played"], "Some numbers differ"),
        ] {
            let rows: Vec<_> = verdicts.iter().copied().map(row).collect();
            assert_eq!(found(&rows).verdict().label, label, "{verdicts:?}");
        }
    }

    #[test]
    fn curves_without_a_printed_number_are_counted_by_what_they_refute() {
        let row = |refuted: bool| {
            let observed = serde_json::json!({ "points": [], "significance": 0.05, "observations_in": 9, "observations_out": 9 });
            let promise = |name: &str, refuted: bool| {
                let test = serde_json::json!({
                    "p_value": 0.5, "refuted": refuted, "threshold": 1.0, "false_positives": 1, "false_negatives": 1, "observations_in": 9,
                    "observations_out": 9
                });
                serde_json::json!({ "name": name, "false_positive_rates": [], "false_negative_rates": [], "test": test })
            };
            let promised = [promise("Poisson sampling", true), promise("(1, 1e-5)-DP", refuted)];
            serde_json::json!({ "trade_off": { "observed": observed, "promised": promised } })
        };
        let verdict = found(&[row(false), row(true), row(false)]).verdict();
        assert_eq!(verdict.label, "Curves tested");
        assert!(
            verdict.sentence.ends_with(": Poisson sampling in 3 of 3, (1, 1e-5)-DP in 1 of 3."),
            "{}",
            verdict.sentence
        );
    }

    #[test]
    fn trainings_say_what_their_models_are_worth() {
        let spread =
            |mean: f64, deviation: f64| serde_json::json!({ "mean": mean, "standard_deviation": deviation });
        let trained = serde_json::json!({ "name": "lenet", "test_accuracy": spread(0.915, 0.006), "bias": spread(0.09, 0.514) });
        let found = found(&[trained, serde_json::json!({ "name": "mechanism" })]);
        let rows: Vec<_> = found.rows.iter().collect();
        let table = worth(&found.artefacts[0], &rows).unwrap();
        assert_eq!(table.rows, [["lenet", "91.5 ± 0.6 %", "0.09 ± 0.51"]]);
        assert!(worth(&found.artefacts[0], &rows[1..]).is_none());
    }

    #[test]
    fn spreads_have_two_digits_and_reasons_are_said_once() {
        assert_eq!([0.171_149, 0.062_64, 12.4, 0.0].map(two_digits), ["0.17", "0.063", "12", "0"]);
        let rows = [("one", "seeds"), ("two", "digits"), ("three", "seeds")];
        assert_eq!(grouped(rows.into_iter()), [("seeds", vec!["one", "three"]), ("digits", vec!["two"])]);
    }
}
