//! `misdeal account` and `misdeal calibrate`.

use crate::arguments::CommonArguments;
use crate::failure::{Failure, Success};
use crate::{output, text};
use misdeal::request::{AccountRequest, CalibrateRequest};

/// Reports bounds, scheme by scheme.
pub fn account(request: &AccountRequest, common: &CommonArguments) -> Result<Success, Failure> {
    let report = misdeal::account(request)?;
    output::deliver(common, &report, || text::account(&report, &common.environment))?;
    Ok(Success::Fine)
}

/// Reports the noise for a target.
pub fn calibrate(request: &CalibrateRequest, common: &CommonArguments) -> Result<Success, Failure> {
    let report = misdeal::calibrate_noise(request)?;
    output::deliver(common, &report, || text::calibrated(&report))?;
    Ok(Success::Fine)
}
