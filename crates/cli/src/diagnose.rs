//! `misdeal diagnose`.

use crate::arguments::{CommonArguments, DiagnoseArguments};
use crate::failure::{Failure, Success};
use crate::{output, plot};

/// Names the scheme behind a log and reports.
pub fn run(arguments: &DiagnoseArguments, common: &CommonArguments) -> Result<Success, Failure> {
    plot::check(arguments.plot.as_deref())?;
    let document = misdeal::diagnose(&arguments.request)?.into();
    if let Some(path) = &arguments.plot {
        plot::write(path, &document)?;
    }
    output::deliver(common, &document)?;
    Ok(Success::Fine)
}
