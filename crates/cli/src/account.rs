//! `misdeal account` and `misdeal calibrate`.

use crate::arguments::CommonArguments;
use crate::failure::{Failure, Success};
use crate::output;
use misdeal::request::{AccountRequest, CalibrateRequest};

/// Reports bounds, scheme by scheme.
pub fn account(request: &AccountRequest, common: &CommonArguments) -> Result<Success, Failure> {
    output::deliver(common, &misdeal::account(request)?.into())?;
    Ok(Success::Fine)
}

/// Reports the noise for a target.
pub fn calibrate(request: &CalibrateRequest, common: &CommonArguments) -> Result<Success, Failure> {
    output::deliver(common, &misdeal::calibrate_noise(request)?.into())?;
    Ok(Success::Fine)
}
