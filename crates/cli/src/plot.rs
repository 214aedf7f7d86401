//! Plots of results.

use crate::failure::Failure;
use misdeal_audit::TradeOffReport;
use misdeal_files::atomic::{check_place, write_atomically};
use misdeal_report::{Format, NamedCurve, TradeOffFigure};
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

/// Draws the observed trade-off curve beside the promised ones.
pub fn trade_off(path: &Path, title: String, report: &TradeOffReport) -> Result<(), Failure> {
    let curve = |promised: &misdeal_audit::PromisedCurve| NamedCurve {
        name: promised.legend(),
        points: promised.points(),
    };
    let figure = TradeOffFigure {
        title,
        estimate: Some(report.observed.clone()),
        curves: report.promised.iter().map(curve).collect(),
    };
    let bytes = figure.draw().to_bytes(Format::of(path)?)?;
    Ok(write_atomically(path, |sink| sink.write_all(&bytes))?)
}
