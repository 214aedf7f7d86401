//! `misdeal estimate`.

use crate::arguments::{CommonArguments, EstimateArguments};
use crate::failure::{Failure, Success};
use crate::spinner::Spinner;
use crate::{output, plot};
use misdeal_results::Document;

/// Reads two files of scores and reports what they show.
pub fn run(arguments: EstimateArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let EstimateArguments { mut request, check, plot } = arguments;
    plot::check(plot.as_deref())?;
    request.trade_off |= plot.is_some();
    let document: Document = {
        let _spinner = Spinner::new(common, "estimating");
        misdeal::estimate_scores(&request)?.into()
    };
    if let Some(path) = &plot {
        plot::write(path, &document)?;
    }
    output::deliver(common, &document)?;
    Ok(Success::of(check, &document))
}
