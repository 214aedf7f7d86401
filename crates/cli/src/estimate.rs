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
    if let Some((path, curves)) = arguments.plot.as_deref().zip(report.trade_off.as_ref()) {
        let title = format!("{} beside {}", arguments.scores_in.display(), arguments.scores_out.display());
        plot::write(path, &curves.figure(title, report.score_histogram.as_ref()))?;
    }
    output::deliver(common, &report, || text::estimates(&report))?;
    Ok(Success::Fine)
}
