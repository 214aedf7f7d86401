//! What is asked of `reproduce`.

use misdeal::{Result, RunRequest, devices};
use misdeal_core::{Device, Error, Precision};
use std::path::PathBuf;

/// What to reproduce, and with how much work.
#[derive(Debug, Clone)]
pub struct ReproduceRequest {
    /// One of [`ARTEFACTS`](crate::ARTEFACTS), or `all`.
    pub name: String,
    /// Whether to play fewer observations, in one run instead of five.
    pub quick: bool,
    /// The number of runs that means are taken over; the paper's if not given.
    pub runs: Option<u64>,
    /// Observations of a run at most; the paper's if not given.
    pub observations: Option<u64>,
    /// What to compute on.
    pub device: Device,
    /// The arithmetic of trainings on a CUDA device.
    pub precision: Precision,
    /// The folder that holds data sets.
    pub data: Option<PathBuf>,
    /// The seed of the first run; the others take those that follow.
    pub seed: u64,
    /// Play only the rows whose names contain this.
    pub only: Option<String>,
    /// The folder where every audit saves its scores, at intervals and at the end.
    pub store: Option<PathBuf>,
    /// Whether to go on from what that folder holds: finished audits are read, and not played again.
    pub resume: bool,
}

impl ReproduceRequest {
    /// Refuses numbers of runs and of observations that are out of range.
    ///
    /// # Errors
    /// They are.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(runs) = self.runs.filter(|runs| !(1..=1000).contains(runs)) {
            let hint = "the paper takes means over five";
            return Err(Error::bad_value("runs", runs, "a whole number from 1 to 1000", hint).into());
        }
        if let Some(observations) = self.observations {
            RunRequest::new(observations).check()?;
        }
        Ok(())
    }

    /// Whether there is a graphics processor that may be used.
    pub(crate) fn has_device(&self) -> bool {
        self.device == Device::Cuda || self.device == Device::Auto && devices().cuda_missing.is_none()
    }
}
