//! Checks a `reproduce` request.

use misdeal::request::ReproduceRequest;
use misdeal::{Result, RunOptions, devices};
use misdeal_core::{Device, Error};

/// Refuses an impossible request before anything runs.
///
/// # Errors
/// A number of runs or observations is out of range, or there is no store to resume.
pub(crate) fn check(request: &ReproduceRequest) -> Result<()> {
    if request.resume && request.store.is_none() {
        let hint = "there is nothing to go on from";
        return Err(Error::bad_value("resume", "given", "`resume` with `store`", hint).into());
    }
    if let Some(runs) = request.runs.filter(|runs| !(1..=1000).contains(runs)) {
        let hint = "the paper takes means over five";
        return Err(Error::bad_value("runs", runs, "a whole number from 1 to 1000", hint).into());
    }
    if let Some(observations) = request.observations {
        RunOptions::new(observations).check()?;
    }
    Ok(())
}

/// Whether there is a GPU that the request may use.
pub(crate) fn has_device(request: &ReproduceRequest) -> bool {
    request.device == Device::Cuda || request.device == Device::Auto && devices().cuda_missing.is_none()
}
