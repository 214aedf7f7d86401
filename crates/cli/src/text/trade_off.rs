//! Tests of whole curves, for people.

use super::row;
use misdeal_audit::TradeOffReport;

/// One line for each claimed curve.
pub fn tests(text: &mut String, report: &TradeOffReport) {
    for curve in &report.promised {
        let Some(test) = &curve.test else { continue };
        let verdict = if test.refuted { "refuted" } else { "not refuted" };
        let p_value =
            if test.p_value < 1e-99 { "below 1e-99".into() } else { format!("{:.2e}", test.p_value) };
        row(text, &format!("curve of {}", curve.name), &format!("{verdict}, p-value {p_value}"));
    }
}
