//! `misdeal merge`.

use crate::arguments::{CommonArguments, MergeArguments};
use crate::failure::{Failure, Success};
use crate::{output, text};
use misdeal::merge_stores;
use misdeal_core::Error;

/// Joins stores and reports what the result holds.
pub fn run(arguments: &MergeArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let path = common.output.as_ref().ok_or_else(|| {
        Error::bad_value("output", "missing", "the name of a file", "the joined store is written there")
    })?;
    let report = merge_stores(&arguments.stores, path)?;
    output::print_report(common, &report, || text::merged(&report))?;
    Ok(Success::Fine)
}
