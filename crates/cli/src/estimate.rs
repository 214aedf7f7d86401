//! `misdeal estimate`.

use crate::arguments::{CommonArguments, EstimateArguments};
use crate::failure::{Failure, Success};
use crate::{output, plot};

/// Reads two files of scores and reports what they show.
pub fn run(arguments: EstimateArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let EstimateArguments { mut request, plot } = arguments;
    plot::check(plot.as_deref())?;
    request.trade_off |= plot.is_some();
    let document = misdeal::estimate_scores(&request)?.into();
    if let Some(path) = &plot {
        plot::write(path, &document)?;
    }
    output::deliver(common, &document)?;
    Ok(Success::Fine)
}
