//! `misdeal diagnose`.

use crate::arguments::{CommonArguments, DiagnoseArguments};
use crate::failure::{Failure, Success};
use crate::spinner::Spinner;
use crate::{output, plot};
use misdeal_results::Document;

/// Names the scheme behind a log and reports.
pub fn run(arguments: &DiagnoseArguments, common: &CommonArguments) -> Result<Success, Failure> {
    plot::check(arguments.plot.as_deref())?;
    let document: Document = {
        let _spinner = Spinner::new(common, "diagnosing");
        misdeal::diagnose(&arguments.request)?.into()
    };
    if let Some(path) = &arguments.plot {
        plot::write(path, &document)?;
    }
    output::deliver(common, &document)?;
    Ok(Success::of(arguments.check, &document))
}
