//! `misdeal merge`.

use crate::arguments::CommonArguments;
use crate::failure::{Failure, Success};
use crate::{output, text};
use misdeal::request::MergeRequest;

/// Joins stores and reports what the result holds.
pub fn run(mut request: MergeRequest, common: &CommonArguments) -> Result<Success, Failure> {
    request.output.clone_from(&common.output);
    let report = misdeal::merge_stores(&request)?;
    output::print_report(common, &report, || text::merged(&report))?;
    Ok(Success::Fine)
}
