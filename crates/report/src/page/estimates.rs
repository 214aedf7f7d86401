//! Sections on estimates from scores.

use super::section::{Fact, Remark, Rerun, Section, Summary, Table};
use super::{advice, audits};
use crate::pictures::judged;
use misdeal_core::ClosedSet;
use misdeal_results::numbers::{count, probability, rounded_down, seconds};
use misdeal_results::{Estimation, Judged};
use misdeal_statistics::EpsilonEstimate;
use std::collections::BTreeMap;

/// The section of one estimate, or of all estimators side by side.
pub fn section(found: &Estimation) -> Section {
    // All scores are in the histogram; an estimate has only those that it counts.
    let scores = found.score_histogram.as_ref().map(|all| [total(&all.scores_in), total(&all.scores_out)]);
    let first = found.estimate.as_ref().or_else(|| found.estimates.values().next());
    let mut charts = vec![judged::estimation(found)];
    charts.extend(judged::scores_of_estimation(found));
    let mut tables = Vec::new();
    let (figures, mut meaning, summary) = if let Some(estimate) = &found.estimate {
        let judged = found.judged(estimate);
        let summary = Summary {
            found: Some(judged.empirical_epsilon),
            valid: judged.valid,
            claimed: judged.claimed_epsilon,
            delta: Some(estimate.delta),
            ..Summary::default()
        };
        let figures = audits::figures(&judged, [None, None], "", false);
        tables
            .push(audits::errors(estimate, scores.map_or(0, |[with, without]| with.saturating_add(without))));
        (figures, advice::meaning(&judged, &estimate.guarantee, None), summary)
    } else {
        tables.push(table(&found.estimates, "All estimators on the same scores", "estimator"));
        let caution = "Estimators side by side. Decide on one before you see these: the largest of several is not valid at the level \
                       of one.";
        let summary = Summary { claimed: found.claimed_epsilon, ..Summary::default() };
        (Vec::new(), vec![caution.into()], summary)
    };
    meaning.extend(found.remark.as_ref().map(|remark| format!("{}.", advice::capitalised(remark))));
    tables.extend(found.trade_off.as_ref().and_then(audits::tested));
    tables.extend(found.descriptive.as_ref().map(audits::describing));
    let too_small = found.counted().and_then(|one| Judged::of(one, found.claimed_epsilon).too_small());
    Section {
        kind: "Estimate from scores",
        title: found.title(),
        name: None,
        advised: found.advice(),
        verdict: found.verdict(),
        remarks: too_small.map(Remark::on_audit).into_iter().collect(),
        summary_tables: Vec::new(),
        figures,
        meaning,
        advice: Vec::new(),
        charts,
        tables,
        settings: first.map(|estimate| settings(found, estimate, scores)).unwrap_or_default(),
        rerun: Rerun::of(found.request.as_ref(), "The same files give the same number."),
        provenance: vec![Fact::new("time", seconds(found.seconds))],
        summary,
    }
}

/// The table of estimates by name, with their guarantees.
pub fn table<N: ClosedSet>(
    estimates: &BTreeMap<N, EpsilonEstimate>,
    caption: &str,
    kind: &'static str,
) -> Table {
    let rows = judged::ranked(estimates).into_iter().map(|(name, one)| {
        let valid = if one.valid { "yes" } else { "no" };
        vec![
            name.name().to_owned(),
            rounded_down(*one.empirical_epsilon),
            probability(one.delta),
            valid.into(),
            one.guarantee.clone(),
        ]
    });
    Table {
        caption: caption.into(),
        header: vec![kind, "epsilon", "delta", "valid", "guarantee"],
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

/// The number of scores in all cells.
fn total(cells: &[u64]) -> u64 {
    cells.iter().fold(0, |sum, &cell| sum.saturating_add(cell))
}

fn settings(found: &Estimation, estimate: &EpsilonEstimate, scores: Option<[u64; 2]>) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("delta", probability(estimate.delta)),
        Fact::new("significance", estimate.significance.to_string()),
        Fact::new("estimator", if found.estimate.is_some() { estimate.estimator.name() } else { "all" }),
        Fact::new("threshold choice", estimate.threshold_choice.name()),
    ];
    if let Some([with, without]) = scores {
        facts.push(Fact::new("scores with the record", count(with)));
        facts.push(Fact::new("scores without it", count(without)));
    }
    facts
}
