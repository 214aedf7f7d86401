//! Runs `misdeal check`, and `misdeal` without a command.

use crate::arguments::{CheckArguments, CommonArguments};
use crate::date::today;
use crate::failure::{Failure, Success};
use crate::interruption::Patience;
use crate::progress::Bar;
use crate::{output, plot};
use misdeal_core::Error;
use misdeal_files::atomic::{check_place, write_atomically};
use misdeal_report::{Layout, PageHead};
use misdeal_results::{Document, Stored};
use std::path::Path;

/// Checks model cards and prints the result. Writes the page and the figure if requested.
pub fn run(arguments: CheckArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let CheckArguments { mut request, check, report, plot, title, date } = arguments;
    plot::check(plot.as_deref())?;
    check_page(report.as_deref())?;
    request.seed = common.seed();
    common.environment.listen(Patience::None)?;
    let checked = {
        let bar = Bar::new(common);
        misdeal::check(&request, &bar)?
    };
    let document: Document = checked.into();
    if let Some(path) = &plot {
        plot::write(path, &document)?;
    }
    write_page(common, report.as_deref(), PageHead { title, name: None, date }, &document)?;
    output::deliver(common, &document)?;
    Ok(Success::of(check, &document))
}

/// Refuses a bad path or file ending for a page, before anything is computed.
pub fn check_page(path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    if !matches!(Layout::of(path), Ok(Layout::Page)) {
        let allowed = "a file name that ends in .html";
        return Err(Error::bad_value("report", path.display(), allowed, "`plot` draws a figure").into());
    }
    Ok(check_place(path)?)
}

/// Writes the HTML page of a result, if a path is given.
pub fn write_page(
    common: &CommonArguments,
    path: Option<&Path>,
    head: PageHead,
    document: &Document,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let head = PageHead { date: Some(head.date.unwrap_or_else(today)), ..head };
    let bytes = Layout::Page.bytes(&[Stored::of(document.clone())], &head)?;
    write_atomically(path, |sink| sink.write_all(&bytes))?;
    output::tell_written(common, path, "the page", None);
    Ok(())
}

/// Checks the default card and audits it. This is what `misdeal` does without a command.
pub fn run_default(common: &CommonArguments) -> Result<Success, Failure> {
    let mut arguments = CheckArguments::default();
    arguments.request.card = misdeal::default_card()?;
    arguments.request.audit = true;
    run(arguments, common)
}
