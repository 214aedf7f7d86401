//! Scans files on all cores.

use crate::edits::Edit;
use crate::error::Error;
use crate::files;
use crate::module::{Module, Syntax, most_effort};
use crate::neighbours::{self, Neighbour, Neighbours};
use crate::rules::{Found, Place, Reach, Rule};
use crate::settings::Settings;
use crate::source::{LARGEST, Source};
use crate::survey::Census;
use crate::weight::{BYTES_OF_EFFORT, MOST_BYTES, Part, Room, weight};
use misdeal_core::{guarded, path_text};
use misdeal_results::{Finding, Skipped, Survey};
use rayon::prelude::*;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Stack size for the deepest trees, which need 20 MB. If address space is limited, all of it counts.
const STACK: usize = 64 << 20;

/// Limit for the bytes of text that all threads hold at a time.
const MOST_TEXT: usize = 100_000_000;

/// Number of files whose findings are collected at a time.
const FILES_AT_A_TIME: usize = 128;

/// Limits for the findings of one file, and of all files.
const MOST_FINDINGS_OF_FILE: usize = 2_000;
const MOST_FINDINGS: usize = 50_000;

/// The result of a scan.
#[derive(Debug, Default)]
pub struct Report {
    /// Number of files that were found.
    pub files: usize,
    /// Number of files of which at least a part was scanned.
    pub scanned: usize,
    /// Number of bytes of these files.
    pub bytes: u64,
    /// Files that were not scanned, in the order of paths.
    pub skipped: Vec<Skipped>,
    /// Parts of files that were not scanned, such as cells of notebooks.
    pub partly_read: Vec<Skipped>,
    /// Findings in the order of paths and lines.
    pub findings: Vec<Finding>,
    /// Changes of files that certainly fix findings.
    pub edits: Vec<Edit>,
    /// Numbers of pipelines that shuffle first and that batch first.
    pub survey: Survey,
}

/// Scans files and folders.
///
/// # Errors
/// A path does not exist, a rule or pattern in the settings is invalid, or no file could be scanned. If only some files could not
/// be scanned, they are listed in [`Report::skipped`]. A folder with nothing to scan is not an error.
pub fn scan(paths: &[PathBuf], settings: &Settings) -> Result<Report, Error> {
    let rules = settings.rules()?;
    let files = files::find(paths, settings)?;
    let pool = threads(rayon::current_num_threads().min(files.len()).max(1))?;
    let mut report = Report { files: files.len(), ..Report::default() };
    let room = Rooms { texts: Room::new(MOST_TEXT), trees: Room::new(MOST_BYTES) };
    for files in files.chunks(FILES_AT_A_TIME) {
        let scanned = |path: &PathBuf| scan_file(path, &rules, settings, &room);
        let outcomes: Vec<Outcome> = pool.install(|| files.par_iter().map(scanned).collect());
        for mut outcome in outcomes {
            outcome.keep(MOST_FINDINGS - report.findings.len());
            report.scanned += usize::from(outcome.is_scanned);
            report.bytes += outcome.bytes;
            report.skipped.extend(outcome.skipped);
            report.partly_read.extend(outcome.partly_read);
            report.findings.extend(outcome.findings);
            report.edits.extend(outcome.edits);
            outcome.census.add_to(&mut report.survey, &outcome.path);
        }
    }
    match report.skipped.first() {
        Some(Skipped { path, reason }) if report.scanned == 0 => {
            Err(Error::NothingScanned { files: report.files, path: path.clone(), reason: reason.clone() })
        }
        _ => Ok(report),
    }
}

/// Makes a pool of `count` threads, or fewer if the system has no memory for their stacks.
fn threads(count: usize) -> Result<rayon::ThreadPool, Error> {
    match rayon::ThreadPoolBuilder::new().num_threads(count).stack_size(STACK).build() {
        Err(_) if count > 1 => threads(count / 2),
        pool => pool.map_err(|error| Error::Threads(error.to_string())),
    }
}

/// Scans a source in memory, treated as the file `path`.
///
/// # Errors
/// The settings name an unknown rule.
pub fn scan_source(path: &str, text: &str, settings: &Settings) -> Result<Report, Error> {
    let rules = settings.rules()?;
    let mut outcome = Outcome { bytes: text.len() as u64, ..Outcome::default() };
    match Source::of_bytes(Path::new(path), text.as_bytes()) {
        Ok(source) => outcome.examine(path, &source, Vec::new(), &rules, settings, &Room::new(MOST_BYTES)),
        Err(reason) => outcome.skip(path, reason),
    }
    let scanned = usize::from(outcome.is_scanned);
    let mut report = Report { files: 1, scanned, bytes: outcome.bytes, ..Report::default() };
    outcome.census.add_to(&mut report.survey, path);
    report.skipped = outcome.skipped;
    report.partly_read = outcome.partly_read;
    report.findings = outcome.findings;
    report.edits = outcome.edits;
    Ok(report)
}

/// The result for one file.
#[derive(Debug, Default)]
struct Outcome {
    bytes: u64,
    is_scanned: bool,
    path: String,
    skipped: Vec<Skipped>,
    partly_read: Vec<Skipped>,
    findings: Vec<Finding>,
    edits: Vec<Edit>,
    census: Census,
}

/// The memory budgets of all threads.
struct Rooms {
    /// The budget for the texts of files.
    texts: Room,
    /// The budget for syntax trees and facts.
    trees: Room,
}

fn scan_file(path: &Path, rules: &[&Rule], settings: &Settings, room: &Rooms) -> Outcome {
    let mut outcome = Outcome::default();
    let shown = path_text(path);
    let shown = if cfg!(windows) { shown.replace('\\', "/").into() } else { shown };
    let shown = shown.strip_prefix("./").unwrap_or(&*shown);
    shown.clone_into(&mut outcome.path);
    let room_for_text;
    match read(path, &room.texts) {
        Ok((bytes, taken)) => {
            room_for_text = taken;
            outcome.bytes = bytes.len() as u64;
            let source = Source::of_bytes(path, &bytes);
            drop(bytes);
            match source {
                Ok(source) => {
                    // A parser failure on one file must not stop the scan of the others.
                    let files = neighbours::find(path, &source.text);
                    let examined =
                        guarded(|| outcome.examine(shown, &source, files, rules, settings, &room.trees));
                    if examined.is_none() {
                        outcome.is_scanned = false;
                        outcome.skip(shown, "the scanner failed on it".to_owned());
                    }
                }
                Err(reason) => outcome.skip(shown, reason),
            }
            drop(room_for_text);
        }
        Err(reason) => outcome.skip(shown, reason),
    }
    outcome
}

/// Reads a file, and takes three times its size from the budget, for text and code.
fn read<'r>(path: &Path, room: &'r Room) -> Result<(Vec<u8>, Part<'r>), String> {
    let (file, size) = misdeal_files::input::open(path).map_err(|error| error.reason())?;
    if size > LARGEST {
        return Err(format!("{size} bytes, more than the {LARGEST} that are read"));
    }
    let taken = room.take(3 * size as usize);
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok((bytes, taken))
}

impl Outcome {
    fn skip(&mut self, path: &str, reason: String) {
        self.skipped.push(Skipped { path: path.to_owned(), reason });
    }

    /// Keeps the first `most` findings; if there were more, adds a note about it.
    fn keep(&mut self, most: usize) {
        let found = self.findings.len();
        if found > most {
            let path = self.findings[0].path.clone();
            self.findings.truncate(most);
            self.skip(
                &path,
                format!("{found} findings, of which the first {most} are told; fix those first"),
            );
        }
    }

    fn examine(
        &mut self,
        path: &str,
        source: &Source,
        neighbours: Vec<Neighbour>,
        rules: &[&Rule],
        settings: &Settings,
        room: &Room,
    ) {
        let of_neighbours: usize = neighbours.iter().map(|file| weight(file.source.text.as_bytes())).sum();
        let weight = weight(source.text.as_bytes()) + of_neighbours;
        let most_effort = most_effort(source.text.len(), weight);
        let bytes = weight + BYTES_OF_EFFORT * most_effort;
        if weight > MOST_BYTES * 9 / 10 {
            let [takes, most] = [weight, MOST_BYTES * 9 / 10].map(|bytes| bytes / 1_000_000);
            self.skip(
                path,
                format!("parsing it takes up to {takes} MB of memory, more than {most}; split the file"),
            );
            return;
        }
        let _taken = room.take(bytes);
        let mut syntax = Syntax::parse(source);
        self.is_scanned = !syntax.is_nothing();
        for reason in std::mem::take(&mut syntax.errors) {
            if self.is_scanned {
                self.partly_read.push(Skipped { path: path.to_owned(), reason });
            } else {
                self.skip(path, reason);
            }
        }
        let files: Vec<(Neighbour, Syntax)> = neighbours
            .into_iter()
            .map(|file| {
                let syntax = Syntax::parse(&file.source);
                (file, syntax)
            })
            .collect();
        let mut module = syntax.read(source, most_effort, Neighbours::of(&files));
        module.is_assumed = settings.assume_private;
        module.is_private |= settings.assume_private;
        if module.facts.too_deep {
            drop(module);
            self.is_scanned = false;
            self.skip(path, "nested too deeply".to_owned());
            syntax.forget();
            return;
        }
        if module.facts.too_many_ways {
            self.is_scanned = false;
            let reason = format!("following its values takes more than {most_effort} steps; split the file");
            self.skip(path, reason);
            return;
        }
        self.census = Census::of(&module);
        if module.is_test {
            return;
        }
        let mut places = Vec::new();
        for rule in rules {
            let is_reached = match rule.reach {
                Reach::Everywhere => true,
                Reach::PrivateModules => module.is_private,
            };
            if is_reached {
                let mut found = Found::default();
                (rule.check)(&module, &mut found);
                places.extend(found.places.into_iter().map(|place| (*rule, place)));
            }
        }
        // Sorted by position in the text, so that columns are counted in one pass.
        places.sort_by_key(|(_, place)| place.range.start());
        for (rule, place) in places {
            if self.findings.len() > MOST_FINDINGS_OF_FILE {
                break;
            }
            self.add(rule, place, path, &module, &syntax);
        }
        self.findings.sort_by_cached_key(|finding| (finding.line, finding.column, finding.rule.clone()));
        self.keep(MOST_FINDINGS_OF_FILE);
    }

    /// Adds a finding, unless a comment suppresses it.
    fn add(&mut self, rule: &Rule, place: Place, path: &str, module: &Module, syntax: &Syntax) {
        let Place { range, what, fix, edits } = place;
        let (start, end) = (range.start().to_usize(), range.end().to_usize());
        if syntax.suppressions.silences(module.source, [start, end], rule.name) {
            return;
        }
        let position = module.source.position(start);
        if module.source.cells.is_none() {
            let of_text = edits.into_iter().map(|(range, new)| {
                let old = module.source.text[range].to_owned();
                let bytes = range.start().to_usize()..range.end().to_usize();
                Edit { path: path.to_owned(), range: bytes, old, new }
            });
            self.edits.extend(of_text);
        }
        self.findings.push(Finding {
            path: path.to_owned(),
            line: position.line,
            column: position.column,
            cell: position.cell.map(|(cell, _)| cell),
            cell_line: position.cell.map(|(_, line)| line),
            rule: rule.name.into(),
            level: rule.level,
            message: format!("{what}: {}", rule.why),
            fix: fix.unwrap_or_else(|| rule.fix.into()),
            excerpt: module.source.line_at(start).to_owned(),
        });
    }
}
