//! Runs `misdeal scan`.

use crate::arguments::{CommonArguments, Format, ScanArguments};
use crate::failure::{Failure, Success};
use crate::output;
use crate::spinner::Spinner;
use misdeal_core::printable;
use misdeal_results::Document;
use misdeal_scan::edits::{apply, diff, ignores};
use misdeal_scan::{Error, RULES, Settings, render, scan};

/// Scans source files and prints the findings. With `--survey` it only prints counts.
pub fn run(arguments: &ScanArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let request = &arguments.request;
    if let Some(document) = about_rules(arguments, common)? {
        output::deliver_text(common, &document, None)?;
        return Ok(Success::Fine);
    }
    if request.survey && matches!(common.format(), Format::Sarif | Format::Github) {
        return Err(common.refuse_format("text or json with --survey", "counts are no annotations"));
    }
    let mut report = {
        let _spinner = Spinner::new(common, "scanning");
        scan(&request.paths, &Settings::of(request)?)?
    };
    if !common.quiet {
        let notes = report.skipped.iter().map(|skipped| (skipped, "not scanned"));
        for (skipped, what) in notes.chain(report.partly_read.iter().map(|part| (part, "read in part"))) {
            let line = format!("{}: {what}: {}", skipped.path, skipped.reason);
            common.environment.tell(&format!("misdeal: note: {}", printable(&line)));
        }
    }
    if arguments.diff || arguments.fix || arguments.add_ignores {
        let edits = if arguments.add_ignores { ignores(&report.findings)? } else { report.edits.clone() };
        if arguments.diff {
            output::deliver_text(common, &output::for_programs(diff(&edits)?), None)?;
            return Ok(if edits.is_empty() { Success::Fine } else { Success::BadNews });
        }
        let changed = apply(&edits)?;
        if !common.quiet {
            let files = if changed == 1 { "file" } else { "files" };
            common.environment.tell(&format!("misdeal: changed {changed} {files}"));
        }
        let _spinner = Spinner::new(common, "scanning");
        report = scan(&request.paths, &Settings::of(request)?)?;
    }
    let is_bad_news = !request.survey && !report.findings.is_empty();
    let document = match (common.format(), request.survey) {
        (Format::Text, false) => output::for_people(&render::text(&report)),
        (Format::Json, false) => json(&render::document(report)),
        (Format::Json, true) => json(&render::survey_document(report)),
        (Format::Sarif, _) => output::for_programs(render::sarif(&report)),
        (Format::Github, _) => output::for_workflows(&render::github(&report)),
        (Format::Text, true) => output::for_people(&render::survey_text(&report)),
    };
    output::deliver_text(common, &document, None)?;
    Ok(if is_bad_news { Success::BadNews } else { Success::Fine })
}

fn json(document: &Document) -> String {
    output::for_programs(document.to_json() + "\n")
}

/// Returns the output of `--explain` or `--list-rules`; `None` without these flags.
fn about_rules(arguments: &ScanArguments, common: &CommonArguments) -> Result<Option<String>, Failure> {
    if arguments.explain.is_none() && !arguments.list_rules {
        return Ok(None);
    }
    if matches!(common.format(), Format::Sarif | Format::Github) {
        let allowed = "text or json with --list-rules and --explain";
        return Err(common.refuse_format(allowed, "a rule is no finding"));
    }
    let is_json = common.format() == Format::Json;
    let Some(name) = &arguments.explain else {
        return Ok(Some(if is_json { json(&render::rules_document(&RULES)) } else { render::rule_list() }));
    };
    let rule = misdeal_scan::by_name(name)
        .ok_or_else(|| Error::NoSuchRule { field: "--explain", name: name.clone() })?;
    Ok(Some(if is_json { json(&render::rules_document(&[*rule])) } else { render::explanation(rule) }))
}
