//! `misdeal scan`.

use crate::arguments::{CommonArguments, Format, ScanArguments};
use crate::failure::{Failure, Success};
use crate::output;
use misdeal_core::printable;
use misdeal_results::Document;
use misdeal_scan::{Error, RULES, Settings, render, scan};
use std::io::{self, Write};

/// Scans sources and says what was found; with `--survey` only counts.
pub fn run(arguments: &ScanArguments, common: &CommonArguments) -> Result<Success, Failure> {
    if let Some(document) = about_rules(arguments, common)? {
        output::deliver_text(common, &document)?;
        return Ok(Success::Fine);
    }
    if arguments.survey && matches!(common.format, Format::Sarif | Format::Github) {
        return Err(common.refuse_format("text or json with --survey", "counts are no annotations"));
    }
    let report = scan(&arguments.paths, &settings(arguments)?)?;
    if !common.quiet {
        for skipped in &report.skipped {
            let line = format!("{}: not scanned: {}", skipped.path, skipped.reason);
            let _ = writeln!(io::stderr(), "misdeal: note: {}", printable(&line));
        }
    }
    let is_bad_news = !arguments.survey && !report.findings.is_empty();
    let document = match (common.format, arguments.survey) {
        (Format::Text, false) => output::for_people(&render::text(&report)),
        (Format::Json, false) => json(&render::document(report)),
        (Format::Json, true) => json(&render::survey_document(report)),
        (Format::Sarif, _) => render::sarif(&report),
        (Format::Github, _) => output::for_workflows(&render::github(&report)),
        (Format::Text, true) => render::survey_text(&report),
    };
    output::deliver_text(common, &document)?;
    Ok(if is_bad_news { Success::BadNews } else { Success::Fine })
}

fn json(document: &Document) -> String {
    document.to_json() + "\n"
}

/// What `--explain` and `--list-rules` print.
fn about_rules(arguments: &ScanArguments, common: &CommonArguments) -> Result<Option<String>, Failure> {
    if arguments.explain.is_none() && !arguments.list_rules {
        return Ok(None);
    }
    if matches!(common.format, Format::Sarif | Format::Github) {
        let allowed = "text or json with --list-rules and --explain";
        return Err(common.refuse_format(allowed, "a rule is no finding"));
    }
    let is_json = common.format == Format::Json;
    let Some(name) = &arguments.explain else {
        return Ok(Some(if is_json { json(&render::rules_document(&RULES)) } else { render::rule_list() }));
    };
    let rule = misdeal_scan::by_name(name)
        .ok_or_else(|| Error::NoSuchRule { field: "--explain", name: name.clone() })?;
    Ok(Some(if is_json { json(&render::rules_document(&[rule])) } else { render::explanation(rule) }))
}

/// The settings of a file, with what the command line adds.
fn settings(arguments: &ScanArguments) -> Result<Settings, Error> {
    let mut settings = match (&arguments.config, arguments.paths.first()) {
        (Some(file), _) => Settings::from_file(file)?.unwrap_or_default(),
        (None, Some(path)) => Settings::nearest(path)?,
        (None, None) => Settings::default(),
    };
    if !arguments.select.is_empty() {
        settings.select.clone_from(&arguments.select);
    }
    settings.ignore.extend_from_slice(&arguments.ignore);
    settings.exclude.extend_from_slice(&arguments.exclude);
    settings.assume_private |= arguments.assume_private;
    Ok(settings)
}
