//! Clopper-Pearson bounds against values of 180 digits.

use super::Found;
use misdeal_statistics::binomial::upper_bound;
use serde::Deserialize;

/// The largest relative error of a bound or of its complement.
const TOLERANCE: f64 = 1e-10;

/// Trials, successes, tail probability, bound, one less the bound; by `testdata/scripts/clopper_pearson.py`.
#[derive(Deserialize)]
struct Golden {
    upper_bound: Vec<(u64, u64, f64, f64, f64)>,
}

pub(super) fn check(_seed: u64) -> Found {
    let golden: Golden =
        toml::from_str(include_str!("../../../../testdata/clopper_pearson.toml")).map_err(super::told)?;
    let mut largest: f64 = 0.0;
    for &(trials, successes, tail, value, complement) in &golden.upper_bound {
        let ours = upper_bound(successes, trials, tail);
        for (ours, exact) in [(ours.value, value), (ours.complement, complement)] {
            let error = if exact == 0.0 { ours.abs() } else { (ours / exact - 1.0).abs() };
            if error.is_nan() || error > TOLERANCE {
                let what = format!("the bound for {successes} of {trials} at {tail}, or one less it,");
                return Err(format!("{what} is {ours}, not {exact}"));
            }
            largest = largest.max(error);
        }
    }
    Ok(format!("{} golden bounds to {largest:.0e}", golden.upper_bound.len()))
}
