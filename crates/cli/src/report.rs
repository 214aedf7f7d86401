//! `misdeal report`.

use crate::arguments::{CommonArguments, Format, ReportArguments};
use crate::failure::{Failure, Success};
use crate::output;
use crate::spinner::Spinner;
use misdeal_core::path_text;
use misdeal_files::atomic::write_atomically;
use misdeal_files::text;
use misdeal_report::{Layout, page};
use misdeal_results::{LaidOut, Stored};

/// Lays stored results out on one page, or draws one of them.
pub fn run(arguments: &ReportArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let layout = common.output.as_deref().map(Layout::of).transpose()?;
    if layout.is_none() && common.format() == Format::Json {
        return Err(common.refuse_format("text without --output", "the page itself is HTML"));
    }
    let results = arguments.results.iter().map(|path| {
        let document = text::read_result(path)?;
        Ok(Stored::parse(&misdeal_core::printable_path(path), &document)?)
    });
    let results = results.collect::<Result<Vec<_>, Failure>>()?;
    let (Some(layout), Some(output)) = (layout, &common.output) else {
        output::print(common, &page(&results)?)?;
        return Ok(Success::Fine);
    };
    let bytes = {
        let _spinner = Spinner::new(common, "laying out");
        layout.bytes(&results)?
    };
    write_atomically(output, |sink| sink.write_all(&bytes))?;
    let verdict = match &results[..] {
        [one] => one.document.verdict(),
        _ => None,
    };
    let what = if results.len() == 1 { "1 result".into() } else { format!("{} results", results.len()) };
    output::tell_written(common, output, &what, verdict.as_ref());
    if common.format() == Format::Json {
        let (results, bytes, output) = (results.len() as u64, bytes.len() as u64, path_text(output).into());
        output::print_document(common, &LaidOut { results, bytes, output }.into())?;
    }
    Ok(Success::Fine)
}
