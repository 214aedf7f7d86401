//! Changes of files: fixes that are certain, and comments that silence findings.

use crate::error::Error;
use misdeal_results::Finding;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

/// Lines that a difference shows before and after a change.
const CONTEXT: usize = 3;

/// A change of a file: a range of bytes, the text that must be there, and the text instead of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub path: String,
    /// The bytes.
    pub range: Range<usize>,
    /// The text that must be there.
    pub old: String,
    /// The text instead of it.
    pub new: String,
}

/// The edits that silence findings, by a comment at the end of each line.
///
/// Notebooks are left out, and lines that a comment cannot end: inside a string, or before a line that continues.
///
/// # Errors
/// A file cannot be read.
pub fn ignores(findings: &[Finding]) -> Result<Vec<Edit>, Error> {
    let mut by_line: BTreeMap<(&str, usize), Vec<&str>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.cell.is_none()) {
        let rules = by_line.entry((&finding.path, finding.line)).or_default();
        if !rules.contains(&finding.rule.as_str()) {
            rules.push(&finding.rule);
        }
    }
    let mut edits = Vec::new();
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for ((path, line), rules) in by_line {
        if !texts.contains_key(path) {
            texts.insert(path, read(path)?);
        }
        let text = &texts[path];
        let Some(range) = lines(text).nth(line - 1) else { continue };
        let code = text[range.clone()].trim_end();
        if code.ends_with('\\') || is_inside_string(text, range.start + code.len()) {
            continue;
        }
        let at = range.start + code.len();
        let new = format!("  # misdeal: ignore[{}]", rules.join(", "));
        edits.push(Edit { path: path.to_owned(), range: at..at, old: String::new(), new });
    }
    Ok(edits)
}

/// Whether a position is inside a string of several lines, judged by the quotes before it.
fn is_inside_string(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let mut position = 0;
    while position < at {
        match bytes[position] {
            b'#' => position += text[position..].find('\n').unwrap_or(text.len() - position),
            b'"' | b'\'' => position = crate::nesting::end_of_string(bytes, position),
            _ => {}
        }
        position += 1;
    }
    position > at
}

/// The edits as a unified difference.
///
/// # Errors
/// A file cannot be read, or has changed since the scan.
pub fn diff(edits: &[Edit]) -> Result<String, Error> {
    let mut shown = String::new();
    for (path, edits) in by_file(edits) {
        let text = read(path)?;
        let spans: Vec<Range<usize>> = lines(&text).collect();
        let line_of =
            |at: usize| spans.partition_point(|span| span.end <= at).min(spans.len().saturating_sub(1));
        let _ = writeln!(shown, "--- a/{path}\n+++ b/{path}");
        let mut moved = 0_isize;
        let mut rest = &edits[..];
        while let Some(first) = rest.first() {
            // Changes whose surroundings touch are shown together.
            let mut last = line_of(first.range.end);
            let mut count = 1;
            while let Some(next) =
                rest.get(count).filter(|next| line_of(next.range.start) <= last + 2 * CONTEXT)
            {
                last = line_of(next.range.end).max(last);
                count += 1;
            }
            let (group, others) = rest.split_at(count);
            rest = others;
            let start = line_of(first.range.start).saturating_sub(CONTEXT);
            let end = (last + CONTEXT + 1).min(spans.len());
            let range = spans[start].start..spans[end - 1].end;
            let changed = applied(&text[range.clone()], group, range.start, path)?;
            let (old, new): (Vec<&str>, Vec<&str>) =
                (text[range].lines().collect(), changed.lines().collect());
            let _ = writeln!(
                shown,
                "@@ -{},{} +{},{} @@",
                start + 1,
                old.len(),
                (start as isize + 1 + moved).max(0),
                new.len()
            );
            moved += new.len() as isize - old.len() as isize;
            write_hunk(&mut shown, &old, &new);
        }
    }
    Ok(shown)
}

/// Writes lines that are the same at the start and at the end once, and the others as removed and added.
fn write_hunk(shown: &mut String, old: &[&str], new: &[&str]) {
    let mut old_at = 0;
    let mut new_at = 0;
    while old_at < old.len() || new_at < new.len() {
        if old.get(old_at) == new.get(new_at) {
            let _ = writeln!(shown, " {}", old[old_at]);
            old_at += 1;
            new_at += 1;
            continue;
        }
        let next = (old_at..old.len()).find_map(|at| {
            let same = new[new_at..].iter().position(|line| *line == old[at] && !line.trim().is_empty())?;
            Some((at, new_at + same))
        });
        let (old_to, new_to) = next.unwrap_or((old.len(), new.len()));
        for line in &old[old_at..old_to] {
            let _ = writeln!(shown, "-{line}");
        }
        for line in &new[new_at..new_to] {
            let _ = writeln!(shown, "+{line}");
        }
        (old_at, new_at) = (old_to, new_to);
    }
}

/// Changes the files. Returns how many were changed.
///
/// # Errors
/// A file cannot be read or written, or has changed since the scan. Files before it are changed.
pub fn apply(edits: &[Edit]) -> Result<usize, Error> {
    let files = by_file(edits);
    for (path, edits) in &files {
        let text = applied(&read(path)?, edits, 0, path)?;
        misdeal_files::atomic::write_file_atomically(Path::new(path), |file| file.write_all(text.as_bytes()))
            .map_err(|error| Error::CannotEdit { path: (*path).to_owned(), reason: error.to_string() })?;
    }
    Ok(files.len())
}

/// Edits by file, in order, without those that overlap an earlier one.
fn by_file(edits: &[Edit]) -> BTreeMap<&str, Vec<&Edit>> {
    let mut files: BTreeMap<&str, Vec<&Edit>> = BTreeMap::new();
    for edit in edits {
        files.entry(&edit.path).or_default().push(edit);
    }
    for edits in files.values_mut() {
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        edits.dedup();
        let mut end = 0;
        edits.retain(|edit| {
            let fits = edit.range.start >= end;
            end = if fits { edit.range.end } else { end };
            fits
        });
    }
    files
}

/// A part of a text after edits; `start` is the position of the part.
fn applied(part: &str, edits: &[&Edit], start: usize, path: &str) -> Result<String, Error> {
    let mut text = String::with_capacity(part.len());
    let mut at = 0;
    for edit in edits {
        let [from, to] = [edit.range.start - start, edit.range.end - start];
        if part.get(from..to) != Some(&*edit.old) {
            return Err(Error::CannotEdit {
                path: path.to_owned(),
                reason: "it has changed since the scan".into(),
            });
        }
        text += &part[at..from];
        text += &edit.new;
        at = to;
    }
    Ok(text + &part[at..])
}

fn read(path: &str) -> Result<String, Error> {
    misdeal_files::text::read(Path::new(path))
        .map_err(|error| Error::CannotEdit { path: path.to_owned(), reason: error.reason() })
}

/// The lines of a text, with their ends.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        start..at
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, range: Range<usize>, old: &str, new: &str) -> Edit {
        Edit { path: path.to_owned(), range, old: old.to_owned(), new: new.to_owned() }
    }

    #[test]
    fn edits_are_shown_and_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.py");
        std::fs::write(&path, "a = 1\nb = 2\nc = 3\n").unwrap();
        let name = path.to_str().unwrap();
        let edits = [edit(name, 10..11, "2", "5"), edit(name, 10..11, "2", "5")];
        let shown = diff(&edits).unwrap();
        assert!(shown.ends_with("@@ -1,3 +1,3 @@\n a = 1\n-b = 2\n+b = 5\n c = 3\n"), "{shown}");
        assert_eq!(apply(&edits).unwrap(), 1);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a = 1\nb = 5\nc = 3\n");
        assert!(apply(&edits).unwrap_err().to_string().contains("changed since"));
    }

    #[test]
    fn strings_of_several_lines_take_no_comment() {
        let text = "x = '''a\nb'''\ny = 1\n";
        assert!(is_inside_string(text, 8));
        assert!(!is_inside_string(text, 13));
        assert!(!is_inside_string(text, 19));
    }
}
