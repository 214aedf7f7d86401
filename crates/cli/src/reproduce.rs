//! `misdeal reproduce`.

use crate::arguments::{CommonArguments, ReproduceArguments};
use crate::failure::{Failure, Success};
use crate::progress::Bar;
use crate::{interruption, output, plot, text};
use misdeal::{ReproduceRequest, reproduce};
use std::path::PathBuf;

/// Plays what the paper played, and prints both.
pub fn run(arguments: &ReproduceArguments, common: &CommonArguments) -> Result<Success, Failure> {
    plot::check(arguments.plot.as_deref())?;
    let request = ReproduceRequest {
        name: arguments.name.clone(),
        quick: arguments.quick,
        runs: arguments.runs,
        observations: arguments.observations,
        device: arguments.device,
        precision: arguments.precision,
        data: arguments.data.clone().or_else(|| std::env::var_os("MISDEAL_DATA").map(PathBuf::from)),
        seed: common.seed,
        only: arguments.only.clone(),
        store: arguments.store.clone(),
        resume: arguments.resume,
    };
    interruption::listen(interruption::Patience::Endless)?;
    let report = {
        let bar = Bar::new(common);
        reproduce(&request, &bar)?
    };
    if let Some(path) = &arguments.plot {
        plot::write(path, &report)?;
    }
    output::deliver(common, &report, || text::reproduced(&report))?;
    Ok(Success::Fine)
}
