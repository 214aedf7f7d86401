//! `misdeal estimate`.

use crate::arguments::{CommonArguments, EstimateArguments};
use crate::failure::{Failure, Success};
use crate::{output, text};
use misdeal_audit::estimate_scores;

/// Reads two files of scores and reports what they show.
pub fn run(arguments: &EstimateArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let report =
        estimate_scores(&arguments.scores_in, &arguments.scores_out, &arguments.analysis.analysis())?;
    output::deliver(common, &report, || text::estimates(&report))?;
    Ok(Success::Fine)
}
