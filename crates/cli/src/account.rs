//! `misdeal account` and `misdeal calibrate`.

use crate::arguments::{AccountArguments, CommonArguments};
use crate::failure::{Failure, Success};
use crate::output;
use crate::spinner::Spinner;
use misdeal::request::CalibrateRequest;
use misdeal_results::Document;

/// Reports bounds, scheme by scheme.
pub fn account(arguments: &AccountArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let document: Document = {
        let _spinner = Spinner::new(common, "accounting");
        misdeal::account(&arguments.request)?.into()
    };
    output::deliver(common, &document)?;
    Ok(Success::of(arguments.check, &document))
}

/// Reports the noise for a target.
pub fn calibrate(request: &CalibrateRequest, common: &CommonArguments) -> Result<Success, Failure> {
    let document = {
        let _spinner = Spinner::new(common, "calibrating");
        misdeal::calibrate(request)?
    };
    output::deliver(common, &document)?;
    Ok(Success::Fine)
}
