//! Checks one training for faults.

use crate::Result;
use misdeal_core::Error;
use misdeal_results::CheckUp;
use misdeal_statistics::checkup::{self, Claim, RunRecord};

/// Tests the records of a training's runs for each known fault.
///
/// One run is enough for all tests but one. A correct training is accused with probability 1e-4 at most, whatever its model
/// and data are. `tensors` are the names of the tensors, for people.
///
/// ```
/// use misdeal::{Claim, RunRecord, check_up};
/// // One canary and four steps without any noise.
/// let run = RunRecord {
///     canaries: 1,
///     outputs: vec![0.0; 4],
///     planted: vec![0.0; 4],
///     placed: vec![false; 4],
///     coins: vec![true],
///     noise_multipliers: vec![1.0; 4],
///     batch_sizes: vec![8; 4],
///     ..RunRecord::default()
/// };
/// let found = check_up(&[run], &Claim::default(), &[])?;
/// assert!(!found.passed);
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// There is no run, a table has the wrong size, or a number is not finite.
pub fn check_up(runs: &[RunRecord], claim: &Claim, tensors: &[String]) -> Result<CheckUp> {
    let hint = "give the records as the auditor made them";
    if runs.is_empty() {
        return Err(Error::bad_value("runs", 0, "at least 1", "train in the loop over runs first").into());
    }
    for run in runs {
        run.check().map_err(|(field, value, allowed)| Error::bad_value(field, value, allowed, hint))?;
    }
    let tensors_of = |run: &RunRecord| run.coordinate_tensors.clone();
    if let Some(other) = runs.iter().find(|run| tensors_of(run) != tensors_of(&runs[0])) {
        let value = format!("{} coordinates", other.coordinate_tensors.len());
        return Err(Error::bad_value("coordinate_tensors", value, "the same in all runs", hint).into());
    }
    let outputs = runs.iter().map(|run| run.outputs.len() as u64).sum();
    let found = checkup::check_up(runs, claim);
    Ok(CheckUp::new(runs.len() as u64, outputs, &found, tensors))
}
