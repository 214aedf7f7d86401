//! Runs `misdeal sweep`.

use crate::arguments::{CommonArguments, SweepArguments};
use crate::check::{check_page, write_page};
use crate::failure::{Failure, Success};
use crate::interruption::Patience;
use crate::progress::Bar;
use crate::{output, plot};
use misdeal_report::PageHead;
use misdeal_results::{Document, VerdictKind};

/// Checks a card at each point, and prints the results.
pub fn run(arguments: SweepArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let SweepArguments { request, check, report, plot, title, date } = arguments;
    plot::check(plot.as_deref())?;
    check_page(report.as_deref())?;
    common.environment.listen(Patience::None)?;
    let document: Document = {
        let bar = Bar::new(common);
        misdeal::sweep(&request, &bar)?.into()
    };
    if let Some(path) = &plot {
        plot::write(path, &document)?;
    }
    write_page(common, report.as_deref(), PageHead { title, name: None, date }, &document)?;
    let is_bad_news = check && document.verdict().is_some_and(|verdict| verdict.kind == VerdictKind::Refuted);
    output::deliver(common, &document)?;
    Ok(if is_bad_news { Success::BadNews } else { Success::Fine })
}
