//! The comparison of several results on one page.

use super::{EmbeddedChart, Placed};
use crate::chart::Chart;
use crate::pictures::epsilons::{self, Row, between};
use misdeal_results::numbers::{probability, rounded_down, significant};
use misdeal_results::{VerdictKind, capitalised};

/// The top of a page with several results.
pub struct Comparison {
    chart: Option<Chart>,
    /// One row for each result.
    pub rows: Vec<Line>,
    /// Whether any row has an epsilon.
    pub has_epsilons: bool,
    /// Whether any row has a found number, besides what theory proves.
    pub has_found: bool,
}

/// The row of one result.
pub struct Line {
    /// The result's number on the page.
    pub number: usize,
    /// The model's name, or the shortest path that differs from other files.
    pub source: String,
    /// The result's title.
    pub title: String,
    /// The epsilon found.
    pub found: String,
    /// The claimed epsilon.
    pub claimed: String,
    /// The delta of all epsilons in the row.
    pub delta: String,
    /// Theory's bounds.
    pub theory: String,
    /// The CSS class of the verdict.
    pub class: &'static str,
    /// The verdict.
    pub verdict: String,
    /// Counts of verdicts, if the result has several numbers.
    pub tally: String,
}

impl Comparison {
    /// The chart with its data, if there is one.
    pub fn charts(&self) -> Option<EmbeddedChart<'_>> {
        self.chart.as_ref().map(|chart| EmbeddedChart::new(chart, "comparison".into()))
    }
}

/// The comparison of results: one row each, and one chart of all epsilons.
pub fn of(results: &[Placed]) -> Comparison {
    let sources = names(results);
    let rows = results.iter().zip(&sources).map(|(placed, source)| {
        let summary = &placed.section.summary;
        let found = summary.found.map_or(String::new(), |found| {
            let bound = if summary.valid { "at least " } else { "" };
            let doubt = if summary.valid { "" } else { " (no valid bound)" };
            format!("{bound}{}{doubt}", rounded_down(found))
        });
        Line {
            number: placed.number,
            source: source.clone(),
            title: placed.section.title.clone(),
            found,
            claimed: summary.claimed.map_or(String::new(), significant),
            delta: summary.delta.map_or(String::new(), probability),
            theory: if summary.theory == [None, None] { String::new() } else { between(summary.theory) },
            class: placed.section.class(),
            verdict: placed.section.verdict.label.clone(),
            tally: summary.tally.clone(),
        }
    });
    let drawn: Vec<Row> = results
        .iter()
        .zip(&sources)
        .filter_map(|(placed, source)| {
            let summary = &placed.section.summary;
            let [valid, raw] = if summary.valid { [summary.found, None] } else { [None, summary.found] };
            let row = Row {
                valid,
                raw,
                claimed: summary.claimed,
                theory: summary.theory,
                names: ["found: at least", "without a guarantee"].map(String::from),
                ..Row::named(format!("{}. {source}", placed.number))
            };
            let has_any = row.epsilons().next().is_some();
            has_any.then_some(row)
        })
        .collect();
    let caption = "For each result the claim, what was found, and theory's bounds for its scheme.";
    let chart = (!drawn.is_empty()).then(|| epsilons::chart("Epsilons beside claims", caption, &drawn));
    let has_found = results.iter().any(|placed| placed.section.summary.found.is_some());
    Comparison { rows: rows.collect(), has_epsilons: chart.is_some(), has_found, chart }
}

/// Names of results: the model's name, or else the file.
fn names(results: &[Placed]) -> Vec<String> {
    let files = told_apart(&results.iter().map(|placed| placed.source.as_str()).collect::<Vec<_>>());
    let named = results.iter().zip(files).map(|(placed, file)| placed.section.name.clone().unwrap_or(file));
    named.collect()
}

/// One sentence on what to do about several claims, for the person who decides.
pub fn advised(results: &[Placed]) -> String {
    let names = names(results);
    let of = |wanted: VerdictKind| {
        let all = results.iter().zip(&names).filter(|(placed, _)| placed.section.verdict.kind == wanted);
        all.map(|(placed, name)| format!("{name} ({})", placed.number)).collect::<Vec<_>>()
    };
    let claims = |names: &[String]| {
        let (claim, are) = if names.len() == 1 { ("claim", "is") } else { ("claims", "are") };
        (format!("the {claim} of {}", joined(names)), are)
    };
    let [refuted, undecided, holds] =
        [VerdictKind::Refuted, VerdictKind::Undecided, VerdictKind::Holds].map(of);
    let mut sentences = Vec::new();
    if !refuted.is_empty() {
        let (claims, are) = claims(&refuted);
        let pronoun = if refuted.len() == 1 { "it" } else { "they" };
        sentences.push(format!("Do not publish {claims}: {pronoun} {are} refuted."));
    }
    if !undecided.is_empty() {
        sentences.push(format!("Nothing proves {}.", claims(&undecided).0));
    }
    if !holds.is_empty() {
        let (claims, are) = claims(&holds);
        sentences.push(format!("{} {are} proven.", capitalised(&claims)));
    }
    sentences.join(" ")
}

/// Names joined as in a sentence.
fn joined(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Paths without the folders that all results can do without.
fn told_apart(paths: &[&str]) -> Vec<String> {
    let end_of = |path: &str, parts: usize| {
        let mut cuts = path.rmatch_indices(['/', '\\']).map(|(at, _)| at + 1);
        path[cuts.nth(parts - 1).unwrap_or(0)..].to_owned()
    };
    let deepest = paths.iter().map(|path| path.matches(['/', '\\']).count() + 1).max().unwrap_or(1);
    let shortest = |path: &&str| {
        let is_alone = |parts: &usize| {
            let end = end_of(path, *parts);
            paths.iter().all(|other| other == path || end_of(other, *parts) != end)
        };
        end_of(path, (1..deepest).find(is_alone).unwrap_or(deepest))
    };
    paths.iter().map(shortest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_as_short_as_tells_them_apart() {
        let paths = ["/runs/one/table.json", "/runs/two/table.json", "/runs/two/figure.json", "audit.json"];
        assert_eq!(told_apart(&paths), ["one/table.json", "two/table.json", "figure.json", "audit.json"]);
        assert_eq!(told_apart(&["/a/x.json", "x.json", "b/x.json"]), ["a/x.json", "x.json", "b/x.json"]);
        assert_eq!(told_apart(&["a/x.json", "a/x.json", "é/ü"]), ["x.json", "x.json", "ü"]);
        assert_eq!(told_apart(&["c:\\runs\\x.json"]), ["x.json"]);
        assert!(told_apart(&[]).is_empty());
    }
}
