//! `misdeal report`.

use crate::arguments::{CommonArguments, Format, ReportArguments};
use crate::failure::{Failure, Success};
use crate::output;
use misdeal_audit::SCHEMA_VERSION;
use misdeal_files::text;
use misdeal_report::{StoredResult, page};
use serde::Serialize;
use std::path::Path;

/// Lays stored results out on one page.
pub fn run(arguments: &ReportArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let results = arguments.results.iter().map(|path| {
        let document = text::read_result(path)?;
        Ok(StoredResult::parse(&path.display().to_string(), &document)?)
    });
    let results = results.collect::<Result<Vec<_>, Failure>>()?;
    let page = page(&results)?;
    match (&common.output, common.format) {
        (Some(output), Format::Json) => {
            output::deliver_document(common, &page)?;
            let written = WrittenPage {
                schema_version: SCHEMA_VERSION,
                command: "report",
                version: env!("CARGO_PKG_VERSION"),
                results: results.len(),
                bytes: page.len(),
                output,
            };
            output::print_report(common, &written, String::new)?;
        }
        (None, Format::Json) => {
            return Err(common.refuse_format("text without --output", "the page itself is HTML"));
        }
        _ => output::deliver_document(common, &page)?,
    }
    Ok(Success::Fine)
}

/// What was written, for programs.
#[derive(Serialize)]
struct WrittenPage<'a> {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    results: usize,
    bytes: usize,
    output: &'a Path,
}
