//! `misdeal account` and `misdeal calibrate`.

use crate::arguments::{AccountArguments, CalibrateArguments, CommonArguments};
use crate::failure::{Failure, Success};
use crate::progress::Bar;
use crate::{interruption, output, text};
use misdeal_audit::{
    Analysis, BoundSide, account_poisson, account_schemes, calibrate_noise, divergence_lower_bound,
};
use misdeal_core::{BatchScheme, Error, Setting};

/// Reports bounds, scheme by scheme.
pub fn account(arguments: &AccountArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let report = match (arguments.sampling_probability, arguments.steps) {
        (Some(probability), Some(steps)) => {
            account_poisson(arguments.noise_multiplier, probability, steps, arguments.delta)?
        }
        (None, None) => {
            let setting =
                Setting { noise_multiplier: arguments.noise_multiplier, ..arguments.shape.setting() };
            let (scheme, buffer_size) = (&arguments.scheme, arguments.shape.buffer_size);
            if arguments.monte_carlo.is_some() && scheme == "all" {
                let hint = "--monte-carlo simulates the pair of one scheme";
                return Err(Error::bad_value("scheme", "all", "the name of one scheme", hint).into());
            }
            let mut report = account_schemes(&setting, scheme, buffer_size, arguments.delta)?;
            if let Some(samples) = arguments.monte_carlo {
                interruption::listen()?;
                let significance = arguments.significance.unwrap_or(Analysis::default().significance);
                let scheme = BatchScheme::from_name(scheme, buffer_size)?;
                let setting = Setting { scheme, seed: common.seed, ..setting };
                let bar = Bar::new(common.quiet);
                let bound = divergence_lower_bound(&setting, arguments.delta, significance, samples, &bar)?;
                report.monte_carlo = Some(bound);
            }
            report
        }
        _ => {
            let hint = "or give --steps-per-epoch and --epochs";
            return Err(
                Error::bad_value("steps", "missing", "--sampling-probability with --steps", hint).into()
            );
        }
    };
    output::deliver(common, &report, || text::account(&report))?;
    Ok(Success::Fine)
}

/// Reports the noise for a target.
pub fn calibrate(arguments: &CalibrateArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let scheme = BatchScheme::from_name(&arguments.scheme, arguments.shape.buffer_size)?;
    let setting = Setting { scheme, ..arguments.shape.setting() };
    let side = if arguments.bound == "lower" { BoundSide::Lower } else { BoundSide::Upper };
    let report = calibrate_noise(&setting.validated()?, arguments.target_epsilon, arguments.delta, side)?;
    output::deliver(common, &report, || text::calibrated(&report))?;
    Ok(Success::Fine)
}
