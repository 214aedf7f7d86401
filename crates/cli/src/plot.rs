//! Plots of results.

use crate::failure::Failure;
use misdeal_audit::{DiagnoseReport, TradeOffReport};
use misdeal_core::Setting;
use misdeal_files::atomic::{check_place, write_atomically};
use misdeal_report::{Drawing, Format, NamedCurve, PositionsFigure, TradeOffFigure};
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
    let curve = |promised: &misdeal_audit::PromisedCurve| {
        let points = promised.false_positive_rates.iter().zip(&promised.false_negative_rates);
        let verdict = match &promised.test {
            Some(test) if test.refuted => ": refuted",
            Some(_) => ": not refuted",
            None => "",
        };
        NamedCurve {
            name: format!("{}{verdict}", promised.name),
            points: points.map(|(&x, &y)| [x, y]).collect(),
        }
    };
    let figure = TradeOffFigure {
        title,
        estimate: Some(report.observed.clone()),
        curves: report.promised.iter().map(curve).collect(),
    };
    write(path, &figure.draw())
}

/// Draws where a log's records were dealt.
pub fn positions(path: &Path, report: &DiagnoseReport) -> Result<(), Failure> {
    let name = report.log.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let buffer = report.diagnosis.parameters.buffer_size;
    let buffer = buffer.map_or_else(String::new, |size| format!(" (buffer of {size})"));
    let doubt = if report.diagnosis.certain { "" } else { ", not certain" };
    let title = format!("{name}: {}{buffer}{doubt}", report.diagnosis.scheme);
    write(path, &PositionsFigure { title, positions: report.positions.clone() }.draw())
}

fn write(path: &Path, drawing: &Drawing) -> Result<(), Failure> {
    let bytes = drawing.to_bytes(Format::of(path)?)?;
    Ok(write_atomically(path, |sink| sink.write_all(&bytes))?)
}

/// What an audit's plot is called.
pub fn title(setting: &Setting) -> String {
    let epochs = if setting.epochs == 1 { String::new() } else { format!(", {} epochs", setting.epochs) };
    format!(
        "{}, {}, {} steps an epoch{epochs}, noise multiplier {}",
        setting.scheme, setting.threat_model, setting.steps_per_epoch, setting.noise_multiplier
    )
}
