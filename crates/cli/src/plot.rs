//! Plots of results.

use crate::failure::Failure;
use misdeal_audit::{Deal, DiagnoseReport, ReproduceReport, ReproducedRow, TradeOffReport};
use misdeal_core::estimate::ScoreHistogram;
use misdeal_files::atomic::{check_place, write_atomically};
use misdeal_report::{
    DealPanels, DealsFigure, Drawing, Format, Gap, GapFigure, NamedCurve, PositionsFigure, Sweep,
    SweepFigure, TradeOffFigure, record_names,
};
use std::path::Path;

/// Refuses a place or an ending before anything is computed.
pub fn check(path: Option<&Path>) -> Result<(), Failure> {
    if let Some(path) = path {
        Format::of(path)?;
        if !path.exists() {
            check_place(path)?;
        }
    }
    Ok(())
}

/// Draws the scores of both worlds, and the observed trade-off curve beside the promised ones.
pub fn trade_off(
    path: &Path,
    title: String,
    scores: Option<&ScoreHistogram>,
    report: &TradeOffReport,
) -> Result<(), Failure> {
    let curve = |promised: &misdeal_audit::PromisedCurve| NamedCurve {
        name: promised.legend(),
        points: promised.points(),
    };
    let figure = TradeOffFigure {
        title,
        scores: scores.cloned(),
        estimate: Some(report.observed.clone()),
        curves: report.promised.iter().map(curve).collect(),
    };
    write(path, &figure.draw())
}

/// Draws where a log's records were dealt.
pub fn positions(path: &Path, report: &DiagnoseReport) -> Result<(), Failure> {
    let title = report.title();
    write(path, &PositionsFigure { title, positions: report.positions.clone() }.draw())
}

fn write(path: &Path, drawing: &Drawing) -> Result<(), Failure> {
    let bytes = drawing.to_bytes(Format::of(path)?)?;
    Ok(write_atomically(path, |sink| sink.write_all(&bytes))?)
}

/// Draws what was reproduced: curves where there are any, lines where settings were played with more and more observations,
/// records where they were only dealt, and else marks.
pub fn reproduced(path: &Path, report: &ReproduceReport) -> Result<(), Failure> {
    let title = match &report.artefacts[..] {
        [one] => format!("{}: {}", one.place, one.title),
        _ => "The paper beside misdeal".into(),
    };
    if let (1, Some(row)) =
        (report.artefacts.len(), report.rows.iter().rev().find(|row| row.trade_off.is_some()))
        && let Some(curves) = &row.trade_off
    {
        return trade_off(path, format!("{title} ({})", row.name), None, curves);
    }
    let drawing = if report.rows.is_empty() {
        DealsFigure { title, deals: report.deals.iter().map(deal).collect() }.draw()
    } else if report.rows.iter().all(|row| row.series.is_some()) {
        SweepFigure { title, sweeps: sweeps(&report.rows) }.draw()
    } else {
        GapFigure { title, gaps: report.rows.iter().map(gap).collect() }.draw()
    };
    write(path, &drawing)
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
