//! Formats tests of whole curves as text for people.

use super::Text;
use misdeal_results::{TestedCurve, TradeOff, numbers};

/// Adds one line for each tested curve, or the reason why none is tested.
pub fn tests(text: &mut Text, report: &TradeOff) {
    for curve in &report.promised {
        let Some(test) = &curve.test else { continue };
        let verdict = if test.refuted { "refuted" } else { "not refuted" };
        let p_value = numbers::p_value(test.p_value);
        text.row(&format!("curve of {}", curve.name), &format!("{verdict}, p-value {p_value}"));
    }
    if let Some(reason) = &report.not_tested {
        text.row("whole curves", &format!("not tested: {reason}"));
    }
}

/// Adds a line for the curve that was claimed by name or by its points.
pub fn claimed(text: &mut Text, curve: Option<&TestedCurve>) {
    if let Some(curve) = curve {
        text.row(&format!("claimed curve ({})", curve.name), &curve.outcome());
    }
}
