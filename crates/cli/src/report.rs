//! `misdeal report`.

use crate::arguments::{CommonArguments, Format, ReportArguments};
use crate::failure::{Failure, Success};
use crate::output;
use misdeal_core::path_text;
use misdeal_files::atomic::write_atomically;
use misdeal_files::text;
use misdeal_report::{Layout, PageHead, page};
use misdeal_results::{LaidOut, Stored};
use std::time::{SystemTime, UNIX_EPOCH};

/// Lays stored results out on one page, or draws one of them.
pub fn run(arguments: &ReportArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let layout = common.output.as_deref().map(Layout::of).transpose()?;
    if layout.is_none() && common.format == Format::Json {
        return Err(common.refuse_format("text without --output", "the page itself is HTML"));
    }
    if layout.is_none() && common.environment.prints_to_terminal() {
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
    let bytes = layout.bytes(&results, &head)?;
    write_atomically(output, |sink| sink.write_all(&bytes))?;
    if common.format == Format::Json {
        let (results, bytes, output) = (results.len() as u64, bytes.len() as u64, path_text(output).into());
        output::print_document(common, &LaidOut { results, bytes, output }.into())?;
    }
    Ok(Success::Fine)
}

/// Today's date in UTC, as 2026-01-31.
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(seconds / 86_400)
}

/// The date of a day that is counted from 1970-01-01.
fn date(mut days: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_become_dates() {
        let known = [(0, "1970-01-01"), (31, "1970-02-01"), (11_016, "2000-02-29"), (19_782, "2024-02-29")];
        for (days, day) in known.into_iter().chain([(20_453, "2025-12-31"), (20_454, "2026-01-01")]) {
            assert_eq!(date(days), day);
        }
    }
}
