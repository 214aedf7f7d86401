//! `misdeal account` and `misdeal calibrate`.

use crate::arguments::{AccountArguments, CommonArguments};
use crate::failure::{Failure, Success};
use crate::{output, plot};
use misdeal::request::CalibrateRequest;

/// Reports bounds, scheme by scheme.
pub fn account(arguments: &AccountArguments, common: &CommonArguments) -> Result<Success, Failure> {
    plot::check(arguments.plot.as_deref())?;
    let document = misdeal::account(&arguments.request)?.into();
    if let Some(path) = &arguments.plot {
        plot::write(path, &document)?;
    }
    output::deliver(common, &document)?;
    Ok(Success::Fine)
}

/// Reports the noise for a target.
pub fn calibrate(request: &CalibrateRequest, common: &CommonArguments) -> Result<Success, Failure> {
    output::deliver(common, &misdeal::calibrate_noise(request)?.into())?;
    Ok(Success::Fine)
}
