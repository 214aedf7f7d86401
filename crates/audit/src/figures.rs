//! The figure that belongs to a result: what `report` draws, taken from what was found.

use crate::{
    AuditReport, Deal, DiagnoseReport, PromisedCurve, ReproduceReport, ReproducedRow, TradeOffReport,
};
use misdeal_core::estimate::ScoreHistogram;
use misdeal_report::{
    DealPanels, DealsFigure, Drawing, Gap, GapFigure, NamedCurve, PositionsFigure, Sweep, SweepFigure,
    TradeOffFigure, record_names,
};

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
    /// The observed curve beside the promised ones, and the scores of both worlds where they are given.
    pub fn figure(&self, title: String, scores: Option<&ScoreHistogram>) -> Figure {
        let curve = |curve: &PromisedCurve| NamedCurve { name: curve.legend(), points: curve.points() };
        Figure::TradeOff(TradeOffFigure {
            title,
            scores: scores.cloned(),
            estimate: Some(self.observed.clone()),
            curves: self.promised.iter().map(curve).collect(),
        })
    }
}

impl AuditReport {
    /// The trade-off curve, where it was asked for.
    pub fn figure(&self) -> Option<Figure> {
        Some(self.trade_off.as_ref()?.figure(self.title(), self.score_histogram.as_ref()))
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
        if let (1, Some(row)) =
            (self.artefacts.len(), self.rows.iter().rev().find(|row| row.trade_off.is_some()))
            && let Some(curves) = &row.trade_off
        {
            return curves.figure(format!("{title} ({})", row.name), None);
        }
        if self.rows.is_empty() {
            Figure::Deals(DealsFigure { title, deals: self.deals.iter().map(deal).collect() })
        } else if self.rows.iter().all(|row| row.series.is_some()) {
            Figure::Sweep(SweepFigure { title, sweeps: sweeps(&self.rows) })
        } else {
            Figure::Gap(GapFigure { title, gaps: self.rows.iter().map(gap).collect() })
        }
    }
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
    let theory = row.theory_of_the_scheme();
    Gap {
        name: row.name.clone(),
        claimed: row.printed_claim,
        printed: row.printed,
        found: row.ours,
        theory: theory
            .map_or([None, None], |bounds| [bounds.epsilon_lower_bound, bounds.epsilon_upper_bound]),
    }
}

fn sweeps(rows: &[ReproducedRow]) -> Vec<Sweep> {
    let mut sweeps: Vec<Sweep> = Vec::new();
    for row in rows {
        let name = row.series.clone().unwrap_or_default();
        if sweeps.last().is_none_or(|sweep| sweep.name != name) {
            let bounds = row.theory_of_the_scheme();
            let levels = [
                ("claimed", row.poisson_upper_bound()),
                ("shuffling, at least", bounds.and_then(|bounds| bounds.epsilon_lower_bound)),
                ("shuffling, at most", bounds.and_then(|bounds| bounds.epsilon_upper_bound)),
            ];
            let levels =
                levels.into_iter().filter_map(|(name, level)| Some((name.to_owned(), level?))).collect();
            sweeps.push(Sweep { name, found: Vec::new(), levels });
        }
        if let (Some(sweep), Some(ours)) = (sweeps.last_mut(), row.ours) {
            sweep.found.push([row.observations as f64, ours]);
        }
    }
    // A quick run plays some numbers of observations more than once.
    for sweep in &mut sweeps {
        sweep.found.dedup();
    }
    sweeps
}
