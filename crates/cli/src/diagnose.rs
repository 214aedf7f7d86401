//! `misdeal diagnose`.

use crate::arguments::{CommonArguments, DiagnoseArguments};
use crate::failure::{Failure, Success};
use crate::{output, plot, text};
use misdeal::{DiagnoseRequest, NoiseLevel};

/// Names the scheme behind a log and reports.
pub fn run(arguments: &DiagnoseArguments, common: &CommonArguments) -> Result<Success, Failure> {
    plot::check(arguments.plot.as_deref())?;
    let delta = arguments.delta;
    let request = DiagnoseRequest {
        log: arguments.log.clone(),
        dataset_size: arguments.dataset_size,
        noise: arguments.noise_multiplier.map(|noise_multiplier| NoiseLevel { noise_multiplier, delta }),
        epochs: arguments.epochs,
    };
    let report = misdeal::diagnose(&request)?;
    if let Some(path) = &arguments.plot {
        plot::write(path, &report)?;
    }
    output::deliver(common, &report, || text::diagnosis(&report))?;
    Ok(Success::Fine)
}
