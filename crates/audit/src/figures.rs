//! The figure that belongs to a result: what `report` draws, taken from what was found.

use crate::{
    AuditReport, Deal, DiagnoseReport, PromisedCurve, ReproduceReport, ReproducedRow, TradeOffReport,
};
use misdeal_core::estimate::ScoreHistogram;
use misdeal_core::{BatchScheme, Bounds};
use misdeal_report::numbers::count;
use misdeal_report::{
    DealPanels, DealsFigure, Drawing, Found, Gap, GapFigure, NamedCurve, PositionsFigure, Scores, Sweep,
    SweepFigure, TradeOffFigure, TradeOffRow, record_names,
};

/// Audits whose curves are drawn beside each other, at most.
const MOST_BESIDE: usize = 4;

/// A figure that is not laid out yet.
#[derive(Debug, Clone)]
pub enum Figure {
    /// The scores of both worlds, and the observed trade-off curve beside the promised ones.
    TradeOff(TradeOffFigure),
    /// Where a log's records were dealt.
    Positions(PositionsFigure),
    /// Where the records of a small file are dealt.
    Deals(DealsFigure),
    /// Epsilon against the number of observations.
    Sweep(SweepFigure),
    /// Claims beside what was found.
    Gap(GapFigure),
}

impl Figure {
    /// Lays it out.
    pub fn draw(&self) -> Drawing {
        match self {
            Self::TradeOff(figure) => figure.draw(),
            Self::Positions(figure) => figure.draw(),
            Self::Deals(figure) => figure.draw(),
            Self::Sweep(figure) => figure.draw(),
            Self::Gap(figure) => figure.draw(),
        }
    }
}

impl TradeOffReport {
    /// The observed curve beside the promised ones, and the scores of both worlds where they are given, which may be any scores.
    pub fn figure(&self, title: String, scores: Option<&ScoreHistogram>) -> Figure {
        let scores =
            scores.map(|histogram| Scores { histogram: histogram.clone(), name: "score", threshold: None });
        Figure::TradeOff(TradeOffFigure { title, rows: vec![self.row(String::new(), scores)] })
    }

    fn row(&self, name: String, scores: Option<Scores>) -> TradeOffRow {
        let curve = |curve: &PromisedCurve| NamedCurve {
            name: curve.name.clone(),
            refuted: curve.test.as_ref().map(|test| test.refuted),
            points: curve.points(),
        };
        let curves = self.promised.iter().map(curve).collect();
        TradeOffRow { name, scores, estimate: Some(self.observed.clone()), curves }
    }
}

impl AuditReport {
    /// The trade-off curve, where it was asked for, and the scores with the threshold of the estimate.
    pub fn figure(&self) -> Option<Figure> {
        let scores = self.score_histogram.as_ref().map(|histogram| Scores {
            histogram: histogram.clone(),
            name: "score (log-likelihood ratio)",
            threshold: Some(self.estimate.threshold),
        });
        let rows = vec![self.trade_off.as_ref()?.row(String::new(), scores)];
        Some(Figure::TradeOff(TradeOffFigure { title: self.title(), rows }))
    }
}

impl DiagnoseReport {
    /// Where the log's records were dealt.
    pub fn figure(&self) -> Figure {
        Figure::Positions(PositionsFigure { title: self.title(), positions: self.positions.clone() })
    }
}

impl ReproduceReport {
    /// Curves where there are any, lines where settings were played with more and more observations, records where they were only
    /// dealt, and else marks.
    pub fn figure(&self) -> Figure {
        let title = match &self.artefacts[..] {
            [one] => format!("{}: {}", one.place, one.title),
            _ => "The paper beside misdeal".into(),
        };
        let curves = if self.artefacts.len() == 1 { curves(&self.rows) } else { Vec::new() };
        let remark = effort(&self.rows);
        if !curves.is_empty() {
            Figure::TradeOff(TradeOffFigure { title, rows: curves })
        } else if self.rows.is_empty() {
            Figure::Deals(DealsFigure { title, deals: self.deals.iter().map(deal).collect() })
        } else if self.rows.iter().all(|row| row.series.is_some()) {
            Figure::Sweep(SweepFigure { title, remark: remark.runs, sweeps: sweeps(&self.rows) })
        } else {
            Figure::Gap(GapFigure { title, remark: remark.all, gaps: self.rows.iter().map(gap).collect() })
        }
    }
}

/// The audits that have curves; where they are too many, trainings before mechanisms.
fn curves(rows: &[ReproducedRow]) -> Vec<TradeOffRow> {
    let mut shown: Vec<(&ReproducedRow, &TradeOffReport)> =
        rows.iter().filter_map(|row| Some((row, row.trade_off.as_ref()?))).collect();
    if shown.len() > MOST_BESIDE {
        shown.sort_by_key(|(row, _)| row.dataset.is_none());
        shown.truncate(MOST_BESIDE);
    }
    let name = |row: &ReproducedRow| {
        if row.observations == row.printed_observations {
            return row.name.clone();
        }
        format!("{} ({} played)", row.name, count(row.observations))
    };
    shown.into_iter().map(|(row, curves)| curves.row(name(row), None)).collect()
}

/// What was played, in words.
struct Effort {
    /// Runs; none where nothing was played.
    runs: Option<String>,
    /// Observations and runs.
    all: Option<String>,
}

fn effort(rows: &[ReproducedRow]) -> Effort {
    let range = |number: fn(&ReproducedRow) -> u64, one: &str, many: &str| {
        let played = || rows.iter().filter(|row| row.ours.is_some()).map(number);
        let (least, most) = (played().min()?, played().max()?);
        let words = if most == 1 { one } else { many };
        let numbers =
            if least == most { count(most) } else { format!("{} to {}", count(least), count(most)) };
        Some(format!("{numbers} {words}"))
    };
    let deviations = if rows.iter().any(|row| row.standard_deviation.is_some()) {
        ", whiskers: standard deviation"
    } else {
        ""
    };
    let runs = range(|row| row.runs, "run", "runs").map(|runs| format!("{runs} each{deviations}"));
    let observations = range(|row| row.observations, "observation", "observations");
    let all = observations.zip(runs.as_ref()).map(|(observations, runs)| format!("{observations}, {runs}"));
    Effort { runs, all }
}

/// What theory says at least and at most of the scheme that was played, or would have been.
fn theory(row: &ReproducedRow) -> [Option<f64>; 2] {
    let others = || row.theory.iter().find(|(scheme, _)| **scheme != BatchScheme::Poisson.name());
    let bounds: Option<&Bounds> = row.theory_of_the_scheme().or_else(|| others().map(|(_, bounds)| bounds));
    bounds.map_or([None, None], |bounds| [bounds.epsilon_lower_bound, bounds.epsilon_upper_bound])
}

fn deal(deal: &Deal) -> DealPanels {
    DealPanels {
        name: deal.name.clone(),
        target: deal.setting.target_index,
        records: record_names(deal.company_shares.len(), deal.setting.target_index),
        buffer_size: deal.setting.scheme.buffer_size(),
        batch_size: deal.setting.batch_size,
        epochs: deal.shown_epochs.clone(),
        target_shares: deal.target_shares.clone(),
        company_shares: deal.company_shares.clone(),
    }
}

fn gap(row: &ReproducedRow) -> Gap {
    Gap {
        name: row.name.clone(),
        claimed: row.printed_claim.or_else(|| row.poisson_upper_bound()),
        printed: row.printed,
        found: row.ours,
        standard_deviation: row.standard_deviation,
        valid_epsilon: row.valid_epsilon,
        theory: theory(row),
    }
}

fn sweeps(rows: &[ReproducedRow]) -> Vec<Sweep> {
    let mut sweeps: Vec<Sweep> = Vec::new();
    for row in rows {
        let name = row.series.clone().unwrap_or_default();
        if sweeps.last().is_none_or(|sweep| sweep.name != name) {
            let claimed = row.poisson_upper_bound();
            sweeps.push(Sweep { name, claimed, theory: theory(row), ..Sweep::default() });
        }
        if let Some(sweep) = sweeps.last_mut() {
            sweep.found.extend(row.ours.map(|epsilon| Found {
                observations: row.observations as f64,
                epsilon,
                standard_deviation: row.standard_deviation,
                valid_epsilon: row.valid_epsilon,
            }));
            sweep.printed.extend(row.printed.map(|printed| [row.printed_observations as f64, printed]));
        }
    }
    // A quick run plays some numbers of observations more than once.
    for sweep in &mut sweeps {
        sweep.found.dedup();
    }
    sweeps
}
