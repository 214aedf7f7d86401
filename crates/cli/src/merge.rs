//! `misdeal merge`.

use crate::arguments::CommonArguments;
use crate::failure::{Failure, Success};
use crate::output;
use misdeal::request::MergeRequest;

/// Joins stores and reports what the result holds.
pub fn run(mut request: MergeRequest, common: &CommonArguments) -> Result<Success, Failure> {
    request.output.clone_from(&common.output);
    output::print_document(common, &misdeal::merge_stores(&request)?.into())?;
    if let Some(path) = &common.output {
        output::tell_written(common, path, "the joined store", None);
    }
    Ok(Success::Fine)
}
