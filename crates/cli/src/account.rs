//! `misdeal account` and `misdeal calibrate`.

use crate::arguments::{AccountArguments, CalibrateArguments, CommonArguments};
use crate::failure::{Failure, Success};
use crate::{output, text};
use misdeal::{AccountExtras, AccountSubject, PoissonSampling, calibrate_noise};
use misdeal_core::{BatchScheme, Error, Setting};

/// Reports bounds, scheme by scheme.
pub fn account(arguments: &AccountArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let AccountArguments { noise_multiplier, delta, scheme, .. } = arguments;
    let buffer_size = arguments.shape.buffer_size;
    let setting = Setting { noise_multiplier: *noise_multiplier, ..arguments.shape.setting() };
    let subject = match (arguments.sampling_probability, arguments.steps) {
        (Some(sampling_probability), Some(steps)) => {
            let noise_multiplier = *noise_multiplier;
            AccountSubject::Poisson(PoissonSampling { noise_multiplier, sampling_probability, steps })
        }
        (None, None) => AccountSubject::Schemes { setting: &setting, scheme, buffer_size },
        _ => {
            let hint = "or give --steps-per-epoch and --epochs";
            return Err(
                Error::bad_value("steps", "missing", "--sampling-probability with --steps", hint).into()
            );
        }
    };
    let extras = AccountExtras {
        epsilon: arguments.epsilon,
        trade_off: arguments.trade_off,
        compare: arguments.compare,
    };
    let report = misdeal::account(&subject, *delta, extras)?;
    output::deliver(common, &report, || text::account(&report))?;
    Ok(Success::Fine)
}

/// Reports the noise for a target.
pub fn calibrate(arguments: &CalibrateArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let scheme = BatchScheme::from_name(&arguments.scheme, arguments.shape.buffer_size)?;
    let setting = Setting { scheme, ..arguments.shape.setting() };
    let report =
        calibrate_noise(&setting.validated()?, arguments.target_epsilon, arguments.delta, arguments.bound)?;
    output::deliver(common, &report, || text::calibrated(&report))?;
    Ok(Success::Fine)
}
