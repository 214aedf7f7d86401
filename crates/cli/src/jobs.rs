//! One function per command. Each runs its job and prints or writes the document.

use crate::arguments::{
    AccountArguments, CommonArguments, CompletionsArguments, DiagnoseArguments, EstimateArguments, Format,
    MechanismArguments, ReportArguments, ReproduceArguments, TrainingArguments,
};
use crate::date::today;
use crate::failure::{Failure, Success};
use crate::interruption::{self, Patience};
use crate::progress::Bar;
use crate::spinner::Spinner;
use crate::{output, plot};
use misdeal::Progress;
use misdeal::request::{CalibrateRequest, DealRequest, MergeRequest, SelfTestRequest};
use misdeal_core::path_text;
use misdeal_files::{atomic::write_atomically, text};
use misdeal_report::{Layout, PageHead, page};
use misdeal_results::{Document, LaidOut, Stored};
use std::path::Path;

/// The outcome of a command.
type Outcome = Result<Success, Failure>;

/// Prints a document, and first draws it if `plot` is given.
///
/// With `check`, a refuted claim is bad news (exit code 1).
fn deliver(document: &Document, plot: Option<&Path>, check: bool, common: &CommonArguments) -> Outcome {
    if let Some(path) = plot {
        plot::write(path, document)?;
    }
    output::deliver(common, document)?;
    Ok(Success::of(check, document))
}

/// Runs `misdeal audit mechanism`.
pub fn audit_mechanism(arguments: MechanismArguments, common: &CommonArguments) -> Outcome {
    let MechanismArguments { mut request, outcome } = arguments;
    plot::check(outcome.plot.as_deref())?;
    request.seed = common.seed();
    request.run.trade_off |= outcome.plot.is_some();
    common.environment.listen(Patience::ToSave)?;
    let audit = misdeal::audit_mechanism(&request, &Bar::new(common))?;
    deliver(&audit.into(), outcome.plot.as_deref(), outcome.check, common)
}

/// Runs `misdeal audit training`.
pub fn audit_training(arguments: TrainingArguments, common: &CommonArguments) -> Outcome {
    let TrainingArguments { mut request, outcome } = arguments;
    plot::check(outcome.plot.as_deref())?;
    request.seed = common.seed();
    request.run.trade_off |= outcome.plot.is_some();
    common.environment.listen(Patience::None)?;
    let audit = misdeal::audit_training(&request, &Bar::new(common))?;
    deliver(&audit.into(), outcome.plot.as_deref(), outcome.check, common)
}

/// Runs `misdeal estimate`.
pub fn estimate(arguments: EstimateArguments, common: &CommonArguments) -> Outcome {
    let EstimateArguments { mut request, check, plot } = arguments;
    plot::check(plot.as_deref())?;
    request.trade_off |= plot.is_some();
    let found = {
        let _spinner = Spinner::new(common, "estimating");
        misdeal::estimate_scores(&request)?
    };
    deliver(&found.into(), plot.as_deref(), check, common)
}

/// Runs `misdeal merge`.
pub fn merge(mut request: MergeRequest, common: &CommonArguments) -> Outcome {
    request.output.clone_from(&common.output);
    output::print_document(common, &misdeal::merge_stores(&request)?.into())?;
    if let Some(path) = &common.output {
        output::tell_written(common, path, "the joined store", None);
    }
    Ok(Success::Fine)
}

/// Runs `misdeal account`.
pub fn account(arguments: &AccountArguments, common: &CommonArguments) -> Outcome {
    let plot = arguments.plot.as_deref();
    plot::check(plot)?;
    let found = {
        let _spinner = Spinner::new(common, "accounting");
        misdeal::account(&arguments.request)?
    };
    deliver(&found.into(), plot, arguments.check, common)
}

/// Runs `misdeal calibrate`.
pub fn calibrate(request: &CalibrateRequest, common: &CommonArguments) -> Outcome {
    let found = {
        let _spinner = Spinner::new(common, "calibrating");
        misdeal::calibrate(request)?
    };
    deliver(&found, None, false, common)
}

/// Runs `misdeal deal`.
pub fn deal(mut request: DealRequest, common: &CommonArguments) -> Outcome {
    request.seed = common.seed;
    request.output.clone_from(&common.output);
    common.environment.listen(Patience::ToSave)?;
    let plan = {
        let _spinner = Spinner::new(common, "dealing");
        misdeal::deal(&request, &Interruptible)?
    };
    output::print_document(common, &plan.into())?;
    if let Some(path) = &common.output {
        output::tell_written(common, path, "the plan", None);
    }
    Ok(Success::Fine)
}

/// Runs `misdeal diagnose`.
pub fn diagnose(arguments: &DiagnoseArguments, common: &CommonArguments) -> Outcome {
    let plot = arguments.plot.as_deref();
    plot::check(plot)?;
    let found = {
        let _spinner = Spinner::new(common, "diagnosing");
        misdeal::diagnose(&arguments.request)?
    };
    deliver(&found.into(), plot, arguments.check, common)
}

/// Runs `misdeal reproduce`.
pub fn reproduce(arguments: ReproduceArguments, common: &CommonArguments) -> Outcome {
    let ReproduceArguments { mut request, plot } = arguments;
    plot::check(plot.as_deref())?;
    request.seed = common.seed();
    common.environment.listen(Patience::ToSave)?;
    let found = misdeal_paper::reproduce(&request, &Bar::new(common))?;
    deliver(&found.into(), plot.as_deref(), false, common)
}

/// Runs `misdeal report`.
pub fn report(arguments: &ReportArguments, common: &CommonArguments) -> Outcome {
    let layout = common.output.as_deref().map(Layout::of).transpose()?;
    if layout.is_none() && common.format() == Format::Json {
        return Err(common.refuse_format("text without --output", "the page itself is HTML"));
    }
    if layout.is_none() && common.environment.is_read() {
        let allowed = "a file name that ends in .html, .svg or .png";
        let hint = "a terminal shows no pages: add -o page.html";
        return Err(misdeal_core::Error::bad_value("output", "missing", allowed, hint).into());
    }
    let head = PageHead {
        title: arguments.title.clone(),
        name: arguments.name.clone(),
        date: Some(arguments.date.clone().unwrap_or_else(today)),
    };
    let results = arguments.results.iter().map(|path| {
        let document = text::read_result(path)?;
        Ok(Stored::parse(&misdeal_core::printable_path(path), &document)?)
    });
    let results = results.collect::<Result<Vec<_>, Failure>>()?;
    let (Some(layout), Some(output)) = (layout, &common.output) else {
        output::print(common, &page(&results, &head)?)?;
        return Ok(Success::Fine);
    };
    let bytes = {
        let _spinner = Spinner::new(common, "laying out");
        layout.bytes(&results, &head)?
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

/// Runs `misdeal devices`.
pub fn devices(common: &CommonArguments) -> Outcome {
    deliver(&misdeal::devices().into(), None, false, common)
}

/// Runs `misdeal self-test`. A failed check is bad news (exit code 1).
pub fn self_test(mut request: SelfTestRequest, common: &CommonArguments) -> Outcome {
    common.environment.listen(Patience::ToSave)?;
    request.seed = common.seed();
    let found = misdeal::self_test(&request, &Interruptible)?;
    let passed = found.passed;
    deliver(&found.into(), None, false, common)?;
    Ok(if passed { Success::Fine } else { Success::BadNews })
}

/// A job without a progress bar that signals can interrupt.
struct Interruptible;

impl Progress for Interruptible {
    fn observed(&self, _done: u64, _total: u64) {}

    fn is_interrupted(&self) -> bool {
        interruption::has_come()
    }
}

/// Runs `misdeal completions`.
pub fn completions(arguments: &CompletionsArguments, common: &CommonArguments) -> Outcome {
    common.check_is_text()?;
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::help::definition(), "misdeal", &mut script);
    let script = String::from_utf8(script)
        .map_err(|error| Failure::run_failed(format!("the script is not text: {error}")))?;
    output::deliver_text(common, &script, None)?;
    Ok(Success::Fine)
}
