//! The allowed range of delta.

use misdeal_core::{Error, Result};
use std::ops::Range;

/// The allowed values of delta. Below this range the terms of delta underflow.
const DELTAS: Range<f64> = 1e-300..1.0;

/// Checks that delta is in the range that accountants accept.
///
/// # Errors
/// `delta` is below 1e-300, or 1 or more.
pub fn check_delta(delta: f64) -> Result<()> {
    if DELTAS.contains(&delta) {
        return Ok(());
    }
    let allowed = format!("a number from {:e} to below {}", DELTAS.start, DELTAS.end);
    let hint = "it is a probability, usually below one over the number of records";
    Err(Error::bad_value("delta", delta, allowed, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_no_delta() {
        assert!([1e-300, 1e-5, 0.999].map(check_delta).iter().all(Result::is_ok));
        for delta in [0.0, -1.0, 1.0, 1e-301, f64::NAN, f64::INFINITY] {
            let refusal = check_delta(delta).unwrap_err().to_string();
            assert!(refusal.contains("but a number from 1e-300 to below 1 is allowed"), "{refusal}");
        }
    }
}
