//! Several results beside each other.

use super::chart::Chart;
use super::epsilons::{self, Row, between};
use super::{EmbeddedChart, Placed};
use crate::numbers::{rounded_down, significant};

/// What stands on top of a page with several results.
pub struct Comparison {
    chart: Option<Chart>,
    /// A row for each result.
    pub rows: Vec<Line>,
}

/// One result.
pub struct Line {
    /// Its place on the page.
    pub number: usize,
    /// Its file.
    pub source: String,
    /// What it is about.
    pub title: String,
    /// What was found.
    pub found: String,
    /// What is claimed.
    pub claimed: String,
    /// What theory says.
    pub theory: String,
    /// The verdict's style.
    pub class: &'static str,
    /// The verdict.
    pub verdict: String,
}

impl Comparison {
    /// The chart with its data.
    pub fn charts(&self) -> Option<EmbeddedChart<'_>> {
        self.chart.as_ref().map(|chart| EmbeddedChart::new(chart, "comparison".into()))
    }
}

/// A line for each result, and one chart of all epsilons.
pub fn of(results: &[Placed]) -> Comparison {
    let rows = results.iter().map(|placed| {
        let summary = &placed.section.summary;
        let found = summary.found.map_or(String::new(), |found| {
            let bound = if summary.valid { "at least " } else { "" };
            let doubt = if summary.valid { "" } else { " (no valid bound)" };
            format!("{bound}{}{doubt}", rounded_down(found))
        });
        Line {
            number: placed.number,
            source: placed.source.clone(),
            title: placed.section.title.clone(),
            found,
            claimed: summary.claimed.map_or(String::new(), significant),
            theory: if summary.theory == [None, None] { String::new() } else { between(summary.theory) },
            class: placed.section.verdict.class(),
            verdict: placed.section.verdict.label.clone(),
        }
    });
    let drawn: Vec<Row> = results
        .iter()
        .filter_map(|placed| {
            let summary = &placed.section.summary;
            let [found, raw] = if summary.valid { [summary.found, None] } else { [None, summary.found] };
            let row = Row {
                name: format!("{}. {}", placed.number, placed.source),
                found,
                raw,
                claimed: summary.claimed,
                printed: None,
                theory: summary.theory,
            };
            let any = row.found.or(row.raw).or(row.claimed).or(row.theory[0]).or(row.theory[1]);
            any.is_some().then_some(row)
        })
        .collect();
    let caption = "For each result the claim, what was found, and theory's bounds for its scheme.";
    let chart = (!drawn.is_empty()).then(|| epsilons::chart("Epsilons beside claims", caption, &drawn));
    Comparison { chart, rows: rows.collect() }
}
