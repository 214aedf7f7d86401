//! Jupyter notebooks: joins the code of their cells into one Python source.
//!
//! A finding's line is a line of the notebook's file, so annotations are placed correctly. The finding also names the cell and the
//! line within it.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// The code of a notebook.
#[derive(Debug)]
pub struct Notebook {
    /// All code cells, one after the other; each ends with a newline.
    pub text: String,
    /// The cells, in order.
    pub cells: Vec<Cell>,
}

/// A code cell.
#[derive(Debug)]
pub struct Cell {
    /// The cell's number in the notebook, from 1.
    pub number: usize,
    /// The cell's byte range in [`Notebook::text`], without the last newline.
    pub range: Range<usize>,
    /// The line in the notebook's file, for each line of the cell.
    pub lines: Vec<usize>,
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    cells: Vec<RawCell<'a>>,
}

#[derive(Deserialize)]
struct RawCell<'a> {
    #[serde(borrow)]
    cell_type: Cow<'a, str>,
    #[serde(borrow, default)]
    source: Option<&'a RawValue>,
}

/// Reads a notebook of format 4.
///
/// # Errors
/// The JSON is malformed.
pub fn read(document: &str) -> Result<Notebook, serde_json::Error> {
    let parsed: Document = serde_json::from_str(document)?;
    let mut notebook = Notebook { text: String::new(), cells: Vec::new() };
    let mut lines_of_file = LineCounter { document, at: 0, line: 1 };
    for (index, cell) in parsed.cells.iter().enumerate() {
        let Some(source) = cell.source.filter(|_| cell.cell_type == "code") else { continue };
        let mut code = String::new();
        let mut lines = Vec::new();
        for raw in parts(source) {
            let line_of_file = lines_of_file.line_of(raw);
            let part: Cow<'_, str> = text_of(raw)?;
            // A part continues the line before it, unless that line has ended.
            if code.is_empty() || code.ends_with('\n') {
                lines.push(line_of_file);
            }
            let ends = part.matches('\n').count() - usize::from(part.ends_with('\n'));
            lines.extend(std::iter::repeat_n(line_of_file, ends));
            code.push_str(&part);
        }
        if is_other_language(&code) {
            continue;
        }
        let code = dedented(code);
        let code = code.strip_suffix('\n').unwrap_or(&code);
        let start = notebook.text.len();
        notebook.text.push_str(code);
        notebook.cells.push(Cell { number: index + 1, range: start..notebook.text.len(), lines });
        notebook.text.push('\n');
    }
    Ok(notebook)
}

/// The raw JSON strings of a source, which is one string or a list of strings.
fn parts(source: &RawValue) -> Vec<&str> {
    match serde_json::from_str::<Vec<&RawValue>>(source.get()) {
        Ok(strings) => strings.into_iter().map(RawValue::get).collect(),
        Err(_) => vec![source.get()],
    }
}

/// Decodes a raw JSON string; borrows it if nothing is escaped.
fn text_of(raw: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    Ok(serde_json::from_str::<Text<'_>>(raw)?.0)
}

/// Removes the indentation of the first line from all lines, as notebooks do.
fn dedented(code: String) -> String {
    let first = code.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    let indentation = &first[..first.len() - first.trim_start_matches([' ', '\t']).len()];
    if indentation.is_empty() {
        return code;
    }
    let lines = code.split_inclusive('\n').map(|line| line.strip_prefix(indentation).unwrap_or(line));
    lines.collect()
}

/// Whether a cell's magic command runs another language.
fn is_other_language(code: &str) -> bool {
    const PYTHON: [&str; 7] = ["capture", "prun", "pypy", "python", "python3", "time", "timeit"];
    let first = code.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim_start();
    first.strip_prefix("%%").is_some_and(|magic| {
        let name = magic.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next();
        !PYTHON.contains(&name.unwrap_or(""))
    })
}

/// Counts the lines of a document in one pass.
struct LineCounter<'a> {
    document: &'a str,
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// The line at which a part of the document begins. Parts must come in order.
    fn line_of(&mut self, part: &str) -> usize {
        let offset = (part.as_ptr() as usize).wrapping_sub(self.document.as_ptr() as usize);
        if let Some(between) = self.document.get(self.at..offset) {
            self.line += between.matches('\n').count();
            self.at = offset;
        }
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_know_their_lines() {
        let document = r##"{
 "cells": [
  {"cell_type": "markdown", "source": ["# Title"]},
  {"cell_type": "code",
   "source": [
    "%matplotlib inline\n",
    "a = 1\n",
    "b = 2"
   ]},
  {"cell_type": "code", "source": "c = 3\nd = 4\n"},
  {"cell_type": "code", "source": ["%%bash\n", "ls ((("]}
 ]
}"##;
        let notebook = read(document).unwrap();
        assert_eq!(notebook.text, "%matplotlib inline\na = 1\nb = 2\nc = 3\nd = 4\n");
        let cells: Vec<_> = notebook.cells.iter().map(|cell| (cell.number, cell.lines.clone())).collect();
        assert_eq!(cells, [(2, vec![6, 7, 8]), (3, vec![10, 10])]);
        assert_eq!(&notebook.text[notebook.cells[1].range.clone()], "c = 3\nd = 4");
    }

    #[test]
    fn damaged_notebooks_are_errors() {
        for damaged in
            ["", "{}", "[1]", r#"{"cells": 3}"#, r#"{"cells": [{"cell_type": "code", "source": [3]}]}"#]
        {
            assert!(read(damaged).is_err(), "{damaged}");
        }
    }
}
