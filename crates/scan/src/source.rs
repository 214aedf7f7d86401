//! The text of a file for the parser, and its line numbers.

use crate::notebook::{self, Cell};
use std::cell::Cell as Remembered;
use std::path::Path;

/// Size limit for a scanned file in bytes; larger files are assumed to be data.
pub const LARGEST: u64 = 16 << 20;

/// Longest excerpt of a line in a finding, in bytes.
///
/// Without this limit, a line of a megabyte with ten thousand findings took 10 GB.
pub const LONGEST_EXCERPT: usize = 1_000;

/// The Python text of a file.
#[derive(Debug)]
pub struct Source {
    /// The text; for a notebook, the code of its cells.
    pub text: String,
    /// The cells, if the file is a notebook.
    pub cells: Option<Vec<Cell>>,
    line_starts: Vec<usize>,
    /// The last offset that was asked for, and the number of characters before it in its line.
    ///
    /// Counting continues from there, so many places on one long line need only one pass.
    counted: Remembered<(usize, usize)>,
}

/// An offset as line and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line of the file, from 1.
    pub line: usize,
    /// The character in the line, from 1; for a notebook, in the line of code.
    pub column: usize,
    /// The notebook's cell and the line in it, both from 1.
    pub cell: Option<(usize, usize)>,
}

impl Source {
    /// Makes a source from Python text.
    pub fn python(text: String) -> Self {
        let line_starts = line_starts(&text);
        Source { text, cells: None, line_starts, counted: Remembered::default() }
    }

    /// Decodes a file according to its name. The error is a sentence.
    pub fn of_bytes(path: &Path, bytes: &[u8]) -> Result<Self, String> {
        let text = decode(bytes);
        if path.extension().is_none_or(|extension| extension != "ipynb") {
            return Ok(Source::python(text));
        }
        let notebook = notebook::read(&text).map_err(|error| format!("not a notebook: {error}"))?;
        let mut source = Source::python(notebook.text);
        source.cells = Some(notebook.cells);
        Ok(source)
    }

    /// The line and column of an offset.
    pub fn position(&self, offset: usize) -> Position {
        let index = self.line_index(offset);
        let column = self.characters_before(self.line_starts[index], offset) + 1;
        let line = index + 1;
        let Some(cells) = &self.cells else { return Position { line, column, cell: None } };
        let cell = cells.partition_point(|cell| cell.range.start <= offset).checked_sub(1);
        let Some(cell) = cell.map(|cell| &cells[cell]) else {
            return Position { line, column, cell: None };
        };
        let first = self.line_starts.partition_point(|start| *start < cell.range.start);
        let line_of_file = cell.lines.get(index - first).or(cell.lines.last());
        Position {
            line: line_of_file.copied().unwrap_or(1),
            column,
            cell: Some((cell.number, index - first + 1)),
        }
    }

    /// The line of an offset, as a phrase.
    pub fn place(&self, offset: usize) -> String {
        let position = self.position(offset);
        match position.cell {
            Some((cell, line)) => format!("cell {cell}, line {line}"),
            None => format!("line {}", position.line),
        }
    }

    /// The line that contains an offset, cut to [`LONGEST_EXCERPT`] bytes.
    pub fn line_at(&self, offset: usize) -> &str {
        let index = self.line_index(offset);
        let start = self.line_starts[index];
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |next| next - 1);
        let line = &self.text[start..end];
        let line = line.strip_suffix('\r').unwrap_or(line);
        &line[..line.floor_char_boundary(LONGEST_EXCERPT)]
    }

    /// The offset at which the line of an offset starts.
    pub fn line_start(&self, offset: usize) -> usize {
        self.line_starts[self.line_index(offset)]
    }

    fn line_index(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Number of characters between the start of a line and an offset in it.
    fn characters_before(&self, line_start: usize, offset: usize) -> usize {
        let (known, before) = self.counted.get();
        let (from, characters) =
            if (line_start..=offset).contains(&known) { (known, before) } else { (line_start, 0) };
        let characters = characters + self.text.get(from..offset).map_or(0, |text| text.chars().count());
        self.counted.set((offset, characters));
        characters
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
}

/// Decodes Latin-1 if the first two lines declare it (PEP 263), else UTF-8 with replacement characters.
fn decode(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let mut head = bytes.split(|byte| *byte == b'\n').take(2).map(String::from_utf8_lossy);
    let is_latin = head.any(|line| {
        let line = line.to_ascii_lowercase();
        line.starts_with('#')
            && line.contains("coding")
            && ["latin", "iso-8859", "iso8859", "cp125", "windows-125"].iter().any(|name| line.contains(name))
    });
    if is_latin {
        bytes.iter().map(|byte| char::from(*byte)).collect()
    } else {
        String::from_utf8_lossy(bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_tolerated() {
        let decode = |bytes: &[u8]| Source::of_bytes(Path::new("a.py"), bytes).unwrap().text;
        assert_eq!(decode(b"\xef\xbb\xbfx = 1"), "x = 1");
        assert_eq!(decode(b"# -*- coding: latin-1 -*-\nx = '\xe9'"), "# -*- coding: latin-1 -*-\nx = 'é'");
        assert_eq!(decode(b"x = '\xe9'"), "x = '\u{fffd}'");
    }

    #[test]
    fn positions_count_characters_from_one() {
        let source = Source::python("a\nbé = c\n".to_owned());
        let at = |offset| (source.position(offset).line, source.position(offset).column);
        assert_eq!([at(0), at(2), at(5), at(6)], [(1, 1), (2, 1), (2, 3), (2, 4)]);
        assert_eq!(source.line_at(6), "bé = c");
    }
}
