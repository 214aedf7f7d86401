//! `misdeal reproduce`.

use crate::arguments::{CommonArguments, ReproduceArguments};
use crate::failure::{Failure, Success};
use crate::progress::Bar;
use crate::{interruption, output, plot, text};
use misdeal_audit::{ReproduceRequest, reproduce};
use misdeal_core::Error;
use std::path::PathBuf;

/// Plays what the paper played, and prints both.
pub fn run(arguments: &ReproduceArguments, common: &CommonArguments) -> Result<Success, Failure> {
    plot::check(arguments.plot.as_deref())?;
    if arguments.runs.is_some_and(|runs| !(1..=1000).contains(&runs)) {
        let runs = arguments.runs.unwrap_or_default();
        let hint = "the paper takes means over five";
        return Err(Error::bad_value("runs", runs, "a whole number from 1 to 1000", hint).into());
    }
    if let Some(observations) = arguments.observations.filter(|&most| most < 2) {
        let hint = "half of them are of each world";
        return Err(Error::bad_value("observations", observations, "at least 2", hint).into());
    }
    let request = ReproduceRequest {
        name: arguments.name.clone(),
        quick: arguments.quick,
        runs: arguments.runs,
        observations: arguments.observations,
        device: arguments.device.clone(),
        precision: arguments.precision.clone(),
        data: arguments.data.clone().or_else(|| std::env::var_os("MISDEAL_DATA").map(PathBuf::from)),
        seed: common.seed,
        only: arguments.only.clone(),
        store: arguments.store.clone(),
        resume: arguments.resume,
    };
    interruption::listen()?;
    let report = {
        let bar = Bar::new(common.quiet);
        reproduce(&request, &bar)?
    };
    if let Some(path) = &arguments.plot {
        plot::reproduced(path, &report)?;
    }
    output::deliver(common, &report, || text::reproduced(&report))?;
    Ok(Success::Fine)
}
