//! Sections on audits of the mechanism and of training.

use super::advice::Subject;
use super::section::{Fact, KeyFigure, Rerun, Section, Summary, Table};
use super::settings;
use crate::pictures::epsilons::between;
use crate::pictures::judged;
use misdeal_core::{ClosedSet, ThreatModel};
use misdeal_results::numbers::{
    count, p_value, percent, probability, rounded_down, rounded_up, seconds, significant,
};
use misdeal_results::request::AuditRequest;
use misdeal_results::{AT_CHANCE, Audit, Judged, Outputs, Theory, TradeOff, Training};
use misdeal_statistics::{Descriptive, EpsilonEstimate, Figure, ThresholdChoice};

/// The section of an audit.
pub fn section(audit: &Audit) -> Section {
    let judged = audit.judged();
    let scheme = audit.setting.scheme.name();
    let theory = audit.theory.sides(audit.setting.scheme);
    let subject = Subject {
        judged: &judged,
        setting: &audit.setting,
        theory,
        claims_poisson: audit.claims_poisson(),
        is_as_in_theory: true,
    };
    let what = if audit.training.is_some() { "DP-SGD" } else { "the batched Gaussian mechanism" };
    let mut charts = vec![judged::audit(audit)];
    charts.extend(judged::scores_of_audit(audit));
    charts.extend(audit.buffer_search.as_ref().map(judged::guesses));
    let mut tables = vec![errors(&audit.estimate, audit.observations)];
    tables.extend(audit.trade_off.as_ref().and_then(tested));
    tables.extend(audit.descriptive.as_ref().map(describing));
    tables.extend(audit.training.as_ref().map(|training| worth(training, audit.setting.threat_model)));
    Section {
        kind: if audit.training.is_some() { "Audit of training" } else { "Audit of the mechanism" },
        title: format!("{what}, {}", settings::title(&audit.setting)),
        name: None,
        advised: audit.advice(),
        verdict: subject.verdict(),
        remarks: subject.remarks(),
        summary_tables: beside(&audit.theory, &judged, scheme).into_iter().collect(),
        figures: figures(&judged, theory, &format!("theory, {scheme}"), audit.claims_poisson()),
        meaning: subject.meaning(&audit.estimate.guarantee),
        advice: subject.advice(further(audit, &subject).as_deref()),
        charts,
        tables,
        settings: settings::facts(&audit.setting, audit.training.as_ref(), Some(&audit.estimate)),
        rerun: rerun(audit),
        provenance: provenance(audit),
        summary: Summary {
            found: Some(judged.empirical_epsilon),
            valid: judged.valid,
            claimed: judged.claimed_epsilon,
            delta: Some(judged.delta),
            theory,
            tally: String::new(),
        },
    }
}

/// The section of a user's outputs that were judged.
pub fn outputs_section(outputs: &Outputs) -> Section {
    let (best, judged) = (outputs.best(), outputs.judged());
    let scheme = outputs.setting.scheme.name();
    let theory = outputs.theory.sides(outputs.setting.scheme);
    let subject = Subject {
        judged: &judged,
        setting: &outputs.setting,
        theory,
        claims_poisson: false,
        is_as_in_theory: false,
    };
    Section {
        kind: "Audit of your own training",
        title: format!("outputs of training, {}", settings::title(&outputs.setting)),
        name: None,
        advised: outputs.advice(),
        verdict: subject.verdict(),
        remarks: subject.remarks(),
        summary_tables: beside(&outputs.theory, &judged, scheme).into_iter().collect(),
        figures: figures(&judged, theory, &format!("theory, {scheme}"), false),
        meaning: subject.meaning(best.map_or("", |best| &best.guarantee)),
        advice: subject.advice(None),
        charts: vec![judged::outputs(outputs)],
        tables: vec![super::estimates::table(&outputs.estimates, "What each score shows", "score")],
        settings: settings::facts(&outputs.setting, None, best),
        rerun: Rerun {
            command: None,
            note: "The outputs came from a training of your own, which is what to run again.".into(),
        },
        provenance: vec![Fact::new("runs", count(outputs.observations))],
        summary: Summary {
            found: Some(judged.empirical_epsilon),
            valid: judged.valid,
            claimed: judged.claimed_epsilon,
            delta: Some(judged.delta),
            theory,
            tally: String::new(),
        },
    }
}

/// The table of what was found and what theory proves, for each scheme.
fn beside(theory: &Theory, judged: &Judged, own: &str) -> Option<Table> {
    let delta = probability(judged.delta);
    let side = |side: Option<f64>, text: fn(f64) -> String| side.map_or("not known".into(), text);
    let rows = theory.iter().map(|(scheme, bounds)| {
        let [lower, upper] = bounds.sides();
        vec![
            if scheme.name() == own {
                format!("theory, {own} (as here)")
            } else {
                format!("theory, {scheme} instead")
            },
            side(lower, rounded_down),
            side(upper, rounded_up),
            delta.clone(),
            "proven".into(),
        ]
    });
    let worth =
        if judged.valid { format!("{} confidence", judged.confidence()) } else { "not a valid bound".into() };
    let found = vec![
        "this audit".into(),
        rounded_down(judged.empirical_epsilon),
        String::new(),
        delta.clone(),
        worth,
    ];
    let rows = std::iter::once(found).chain(rows).collect();
    let header = vec!["source", "ε at least", "ε at most", "delta", "guarantee"];
    let caption = "What was found, and what theory proves".into();
    (!theory.is_empty()).then_some(Table { caption, header, rows, notes: Vec::new() })
}

/// The key figures of an audit.
pub fn figures(
    judged: &Judged,
    theory: [Option<f64>; 2],
    name: &str,
    claims_poisson: bool,
) -> Vec<KeyFigure> {
    let level = format!("{} confidence, delta {}", judged.confidence(), probability(judged.delta));
    let mut figures = vec![if judged.valid {
        // Where theory proves more, that is what leaks.
        let is_less = theory[0].is_some_and(|lower| lower > judged.empirical_epsilon);
        let label = if is_less { "this audit shows at least" } else { "leaks at least" };
        KeyFigure::new(label, format!("ε {}", rounded_down(judged.empirical_epsilon)), level)
    } else {
        let worth = if judged.is_conditional { judged.weakness() } else { "not a valid bound" };
        let note = format!("{worth}, delta {}", probability(judged.delta));
        KeyFigure::new("estimate", format!("ε {}", rounded_down(judged.empirical_epsilon)), note)
    }];
    if let Some(claim) = judged.claimed_epsilon {
        let note =
            if claims_poisson { "as if batches were drawn by Poisson sampling" } else { "as it was given" };
        figures.push(KeyFigure::new("claimed", format!("ε {}", significant(claim)), note));
    }
    if theory != [None, None] {
        figures.push(KeyFigure::new(name, format!("ε {}", between(theory)), "proven, in the worst case"));
    }
    figures
}

/// The table of errors behind the estimate; `runs` is the number of all runs.
pub fn errors(estimate: &EpsilonEstimate, runs: u64) -> Table {
    let row = |name: &str, errors: u64, of: u64| {
        vec![name.to_owned(), count(errors), count(of), percent(errors as f64 / of.max(1) as f64)]
    };
    let threshold = significant(*estimate.threshold);
    let counted = estimate.observations_in.saturating_add(estimate.observations_out);
    let held_out = if estimate.threshold_choice == ThresholdChoice::HoldOut && counted < runs {
        " Half of the runs chose it, and only the other half is counted."
    } else {
        ""
    };
    Table {
        caption: "What was counted".into(),
        header: vec!["error", "runs", "of", "share"],
        rows: vec![
            row("false positives", estimate.false_positives, estimate.observations_out),
            row("false negatives", estimate.false_negatives, estimate.observations_in),
        ],
        notes: vec![format!(
            "At the threshold {threshold}: scores from there on are taken for runs with the record.{held_out}"
        )],
    }
}

/// The table of promised curves: refuted or not.
pub fn tested(curves: &TradeOff) -> Option<Table> {
    let mut rows: Vec<_> = curves
        .promised
        .iter()
        .filter_map(|promise| {
            let test = promise.test.as_ref()?;
            let verdict = if test.refuted { "refuted" } else { "not refuted" };
            Some(vec![promise.name.clone(), verdict.into(), p_value(test.p_value)])
        })
        .collect();
    let mut notes = vec![format!("Each test is at the level {}.", significant(curves.observed.significance))];
    if let Some(reason) = &curves.not_tested {
        rows.push(vec!["all".into(), "not tested".into(), "none".into()]);
        notes = vec![format!("No test of these scores holds: {reason}.")];
    }
    let caption = "Whole curves, tested".into();
    (!rows.is_empty()).then(|| Table {
        caption,
        header: vec!["claimed curve", "verdict", "p-value"],
        rows,
        notes,
    })
}

/// The table of measures of how well the scores tell the worlds apart.
pub fn describing(figures: &Descriptive) -> Table {
    let row = |name: String, &Figure { value, lower, upper }: &Figure| {
        vec![name, significant(value), format!("{} to {}", significant(lower), significant(upper))]
    };
    let mut rows = vec![row("AUROC".into(), &figures.auroc)];
    rows.extend(figures.true_positive_rates.iter().map(|at| {
        let name =
            format!("true-positive rate at a false-positive rate of {}", percent(at.false_positive_rate));
        row(name, &at.figure)
    }));
    let header = vec!["figure", "value", "95 % interval"];
    Table { caption: "How well the scores tell the worlds apart".into(), header, rows, notes: Vec::new() }
}

fn worth(training: &Training, threat_model: ThreatModel) -> Table {
    let figures = [
        ("training accuracy", training.train_accuracy),
        ("test accuracy", training.test_accuracy),
        ("bias of an output", training.bias),
    ];
    let rows = figures.into_iter().filter_map(|(name, spread)| {
        let spread = spread?;
        Some(vec![name.to_owned(), significant(spread.mean), significant(spread.standard_deviation)])
    });
    let has_accuracy = training.train_accuracy.is_some() || training.test_accuracy.is_some();
    let is_at_chance = has_accuracy && threat_model == ThreatModel::WorstCase;
    Table {
        caption: "What the models are worth".into(),
        header: vec!["figure", "mean", "standard deviation"],
        rows: rows.collect(),
        notes: is_at_chance.then(|| format!("Accuracies are {AT_CHANCE}.")).into_iter().collect(),
    }
}

fn provenance(audit: &Audit) -> Vec<Fact> {
    let unit = if audit.training.is_some() { "models" } else { "observations" };
    let speed = match audit.observations_per_second {
        slow if slow < 1000.0 => significant(slow),
        fast => count(fast.round() as u64),
    };
    let mut facts = vec![
        Fact::new("engine", audit.engine.name()),
        Fact::new("time", seconds(audit.seconds)),
        Fact::new(format!("{unit} a second"), speed),
    ];
    facts.extend(audit.stream.as_ref().map(|stream| Fact::new("random stream", stream)));
    if audit.stopped_early {
        facts.push(Fact::new(
            "stopped early",
            "what it was to stop at was reached; the bound holds all the same",
        ));
    }
    facts.extend(audit.store.as_ref().map(|store| Fact::new("scores saved in", store)));
    facts
}

fn rerun(audit: &Audit) -> Rerun {
    let note = match &audit.training {
        Some(training) if !["mlp", "lenet", "cnn"].contains(&training.model.as_str()) => {
            "The same file of layers and the same data give the same number."
        }
        Some(_) => "The same data give the same number.",
        None => "The same seed gives the same number, on any number of threads and any instruction set.",
    };
    Rerun::new(audit.request.as_ref().map(AuditRequest::command_line), note)
}

/// The command of the same audit with more observations.
fn further(audit: &Audit, subject: &Subject<'_>) -> Option<String> {
    let observations = audit.observations.saturating_mul(subject.further());
    Some(audit.request.as_ref()?.with_observations(observations).command_line())
}
