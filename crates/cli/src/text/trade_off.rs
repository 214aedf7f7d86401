//! Formats tests of whole curves as text for people.

use super::Text;
use misdeal_results::{TradeOff, numbers};

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
