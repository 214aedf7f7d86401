//! `misdeal check`, and `misdeal` alone.

use crate::arguments::{CheckArguments, CommonArguments};
use crate::failure::{Failure, Success};
use crate::interruption::Patience;
use crate::progress::Bar;
use crate::{output, plot};
use misdeal_files::atomic::{check_place, write_atomically};
use misdeal_report::Layout;
use misdeal_results::{Document, Stored};

/// Checks model cards and reports; writes the page and the figure where they were asked for.
pub fn run(arguments: CheckArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let CheckArguments { mut request, check, report, plot } = arguments;
    plot::check(plot.as_deref())?;
    if let Some(page) = &report {
        if Layout::of(page)? != Layout::Page {
            let hint = "--plot draws a figure";
            return Err(misdeal_core::Error::bad_value(
                "report",
                page.display(),
                "a file name that ends in .html",
                hint,
            )
            .into());
        }
        check_place(page)?;
    }
    request.seed = common.seed;
    common.environment.listen(Patience::None)?;
    let checked = {
        let bar = Bar::new(common);
        misdeal::check(&request, &bar)?
    };
    let document: Document = checked.into();
    if let Some(path) = &plot {
        plot::write(path, &document)?;
    }
    if let Some(path) = &report {
        let bytes = Layout::Page.bytes(&[Stored::of(document.clone())])?;
        write_atomically(path, |sink| sink.write_all(&bytes))?;
    }
    output::deliver(common, &document)?;
    Ok(Success::of(check, &document))
}

/// Checks the default setting, audit included: what `misdeal` alone does.
pub fn run_default(common: &CommonArguments) -> Result<Success, Failure> {
    let mut arguments = CheckArguments::default();
    arguments.request.card = misdeal::default_card()?;
    arguments.request.audit = true;
    run(arguments, common)
}
