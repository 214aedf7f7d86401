//! `misdeal diagnose`.

use crate::arguments::{CommonArguments, DiagnoseArguments};
use crate::failure::{Failure, Success};
use crate::{output, plot, text};

/// Names the scheme behind a log and reports.
pub fn run(arguments: &DiagnoseArguments, common: &CommonArguments) -> Result<Success, Failure> {
    plot::check(arguments.plot.as_deref())?;
    let report = misdeal::diagnose(&arguments.request)?;
    if let Some(path) = &arguments.plot {
        plot::write(path, &report)?;
    }
    output::deliver(common, &report, || text::diagnosis(&report, &common.environment))?;
    Ok(Success::Fine)
}
