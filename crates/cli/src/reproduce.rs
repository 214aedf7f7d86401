//! `misdeal reproduce`.

use crate::arguments::{CommonArguments, ReproduceArguments};
use crate::failure::{Failure, Success};
use crate::interruption::Patience;
use crate::progress::Bar;
use crate::{output, plot, text};
use misdeal_paper::{ReproduceRequest, reproduce};

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
        data: common.data_folder(arguments.data.as_ref()),
        seed: common.seed,
        only: arguments.only.clone(),
        store: arguments.store.clone(),
        resume: arguments.resume,
    };
    common.environment.listen(Patience::Endless)?;
    let report = {
        let bar = Bar::new(common);
        reproduce(&request, &bar)?
    };
    if let Some(path) = &arguments.plot {
        plot::write(path, &report)?;
    }
    output::deliver(common, &report, || text::reproduced(&report, &common.environment))?;
    Ok(Success::Fine)
}
