//! `misdeal devices`.

use crate::arguments::CommonArguments;
use crate::failure::{Failure, Success};
use crate::output;
use misdeal::devices;

/// Says what there is to compute on.
pub fn run(common: &CommonArguments) -> Result<Success, Failure> {
    output::deliver(common, &devices().into())?;
    Ok(Success::Fine)
}
