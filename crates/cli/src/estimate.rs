//! `misdeal estimate`.

use crate::arguments::{CommonArguments, EstimateArguments};
use crate::failure::{Failure, Success};
use crate::{output, plot, text};
use misdeal_audit::{EstimateRequest, estimate_scores};

/// Reads two files of scores and reports what they show.
pub fn run(arguments: &EstimateArguments, common: &CommonArguments) -> Result<Success, Failure> {
    plot::check(arguments.plot.as_deref())?;
    let report = estimate_scores(&EstimateRequest {
        scores_in: arguments.scores_in.clone(),
        scores_out: arguments.scores_out.clone(),
        analysis: arguments.analysis.analysis(),
        claimed_epsilon: arguments.claimed_epsilon,
        trade_off: arguments.trade_off || arguments.plot.is_some(),
    })?;
    if let Some(path) = &arguments.plot {
        plot::write(path, &report)?;
    }
    output::deliver(common, &report, || text::estimates(&report))?;
    Ok(Success::Fine)
}
