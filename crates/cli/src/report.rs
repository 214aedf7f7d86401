//! `misdeal report`.

use crate::arguments::{CommonArguments, Format, ReportArguments};
use crate::failure::{Failure, Success};
use crate::output;
use misdeal::SCHEMA_VERSION;
use misdeal_files::atomic::write_atomically;
use misdeal_files::text;
use misdeal_report::{Layout, StoredResult, page};
use serde::Serialize;
use std::path::Path;

/// Lays stored results out on one page, or draws one of them.
pub fn run(arguments: &ReportArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let layout = common.output.as_deref().map(Layout::of).transpose()?;
    if layout.is_none() && common.format == Format::Json {
        return Err(common.refuse_format("text without --output", "the page itself is HTML"));
    }
    let results = arguments.results.iter().map(|path| {
        let document = text::read_result(path)?;
        Ok(StoredResult::parse(&misdeal_core::printable_path(path), &document)?)
    });
    let results = results.collect::<Result<Vec<_>, Failure>>()?;
    let (Some(layout), Some(output)) = (layout, &common.output) else {
        output::print(common, &page(&results)?)?;
        return Ok(Success::Fine);
    };
    let bytes = layout.bytes(&results)?;
    write_atomically(output, |sink| sink.write_all(&bytes))?;
    if common.format == Format::Json {
        let written = Written {
            schema_version: SCHEMA_VERSION,
            command: "report",
            version: env!("CARGO_PKG_VERSION"),
            results: results.len(),
            bytes: bytes.len(),
            output,
        };
        output::print_report(common, &written, String::new)?;
    }
    Ok(Success::Fine)
}

/// What was written, for programs.
#[derive(Serialize)]
struct Written<'a> {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    results: usize,
    bytes: usize,
    #[serde(serialize_with = "misdeal_core::serialize_path")]
    output: &'a Path,
}
