//! `misdeal devices`.

use crate::arguments::CommonArguments;
use crate::failure::{Failure, Success};
use crate::{output, text};
use misdeal::devices;

/// Says what there is to compute on.
pub fn run(common: &CommonArguments) -> Result<Success, Failure> {
    let report = devices();
    output::deliver(common, &report, || text::devices(&report))?;
    Ok(Success::Fine)
}
