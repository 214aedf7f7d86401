//! `misdeal estimate`.

use crate::arguments::{CommonArguments, EstimateArguments};
use crate::failure::{Failure, Success};
use crate::{output, plot, text};
use misdeal::{ClaimedCurve, EstimateRequest, estimate_scores};

/// Reads two files of scores and reports what they show.
pub fn run(arguments: &EstimateArguments, common: &CommonArguments) -> Result<Success, Failure> {
    plot::check(arguments.plot.as_deref())?;
    let request = EstimateRequest {
        analysis: arguments.analysis.analysis(),
        fair_coins: arguments.fair_coins,
        claimed_epsilon: arguments.claimed_epsilon,
        claimed_curve: arguments.claimed_curve.as_deref().map(ClaimedCurve::parse).transpose()?,
        trade_off: arguments.trade_off || arguments.plot.is_some(),
    };
    let report = estimate_scores(&arguments.scores_in, &arguments.scores_out, &request)?;
    if let Some(path) = &arguments.plot {
        plot::write(path, &report)?;
    }
    output::deliver(common, &report, || text::estimates(&report))?;
    Ok(Success::Fine)
}
