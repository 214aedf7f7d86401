//! Lines and tables that fit the terminal. Lines break between words.

use comfy_table::{ColumnConstraint, Row, Table, Width};
use misdeal_core::printable;
use std::fmt::{self, Write};

/// The width of a row's label in columns.
const LABEL: usize = 28;

/// Text for people that fits the terminal, unless a word is too long.
#[derive(Debug, Clone)]
pub struct Text {
    text: String,
    width: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        Ok(())
    }
}

impl Text {
    /// Creates an empty text for lines of `width` columns.
    pub fn new(width: usize) -> Self {
        Text { text: String::new(), width }
    }

    /// Adds text unchanged.
    pub fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a character: a line break ends a line or leaves one empty.
    pub fn push(&mut self, c: char) {
        self.text.push(c);
    }

    /// Adds a line with a label and a value. Further lines begin below the value.
    ///
    /// The value may come from an untrusted file: it is made printable.
    pub fn row(&mut self, label: &str, value: &str) {
        let start = format!("  {label:<LABEL$} ");
        let indent = " ".repeat(start.chars().count());
        self.text += &wrapped(&format!("{start}{}", printable(value)), &indent, self.width);
        self.text.push('\n');
    }

    /// Adds sentences on their own lines. Wrapped lines keep the indent of the first.
    pub fn prose(&mut self, text: &str) {
        for line in text.lines() {
            let indent = " ".repeat(line.chars().take_while(|&c| c == ' ').count());
            self.text += &wrapped(line, &indent, self.width);
            self.text.push('\n');
        }
    }

    /// Adds a table whose cells wrap between words.
    ///
    /// If the table still does not fit, each row becomes a block of lines.
    pub fn table(&mut self, table: &mut Table) {
        let rows: Vec<Vec<String>> = table.row_iter().map(contents).collect();
        let header = table.header().map(contents).unwrap_or_default();
        let width = usize::from(table.width().unwrap_or(u16::MAX));
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0).max(header.len());
        let cells = |column: usize| rows.iter().chain([&header]).filter_map(move |row| row.get(column));
        let longest: Vec<usize> = (0..columns)
            .map(|column| {
                cells(column).flat_map(|cell| cell.split_whitespace()).map(length).max().unwrap_or(0) + 2
            })
            .collect();
        if longest.iter().sum::<usize>() > width {
            self.blocks(&header, &rows);
            return;
        }
        for (column, least) in longest.into_iter().enumerate() {
            if let Some(column) = table.column_mut(column) {
                let least = u16::try_from(least).unwrap_or(u16::MAX);
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
            }
        }
        let _ = writeln!(self.text, "{table}");
    }

    /// Adds a block for each row: its first cell, then the others below it with their headers.
    fn blocks(&mut self, header: &[String], rows: &[Vec<String>]) {
        let nobody = String::new();
        for row in rows {
            self.prose(&format!(" {}", row.first().unwrap_or(&nobody)));
            for (place, cell) in row.iter().enumerate().skip(1).filter(|(_, cell)| !cell.is_empty()) {
                let name = header.get(place).filter(|name| !name.is_empty());
                let name = name.map_or(String::new(), |name| format!("{name}: "));
                let line = format!("   {name}{cell}");
                self.text += &wrapped(&line, "     ", self.width);
                self.text.push('\n');
            }
        }
    }

    /// Returns all lines.
    pub fn into_string(self) -> String {
        self.text
    }
}

fn contents(row: &Row) -> Vec<String> {
    row.cell_iter().map(comfy_table::Cell::content).collect()
}

/// Counts characters, each as one column.
fn length(text: &str) -> usize {
    text.chars().count()
}

/// Breaks a line at spaces so that it fits `width`. Further lines begin with `indent`.
fn wrapped(line: &str, indent: &str, width: usize) -> String {
    if length(line) <= width {
        return line.to_owned();
    }
    let (mut lines, mut last) = (String::new(), String::new());
    let mut has_word = false;
    // Runs of spaces belong to the word after them, so that columns stay where they are.
    for piece in pieces(line) {
        if has_word && length(&last) + length(piece) > width {
            lines += last.trim_end();
            lines.push('\n');
            last = format!("{indent}{}", piece.trim_start());
        } else {
            last += piece;
        }
        has_word |= !piece.trim().is_empty() && length(&last) > length(indent);
    }
    lines + last.trim_end()
}

/// Splits a line into words, each with the spaces before it.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let start = rest.find(|c| c != ' ').unwrap_or(rest.len());
        let end = rest[start..].find(' ').map_or(rest.len(), |end| start + end);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_and_are_never_cut() {
        for width in [60, 80, 120] {
            let mut text = Text::new(width);
            let words = "clopper-pearson: with 95 % confidence at least epsilon 3.1 leaks at delta 1e-5; whoever claims less is refuted.";
            text.row("empirical epsilon", &format!("3.1      {words}"));
            text.prose(&format!("  {words}"));
            let lines = text.into_string();
            assert!(lines.lines().all(|line| line.chars().count() <= width), "{lines}");
            let joined = lines.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(joined, format!("empirical epsilon 3.1 {words} {words}"));
        }
    }

    #[test]
    fn rows_hang_below_their_value() {
        let mut text = Text::new(50);
        text.row("label", "one two three four five six");
        assert_eq!(
            text.into_string(),
            format!("  {:<28} one two three four\n{}five six\n", "label", " ".repeat(31))
        );
    }

    #[test]
    fn tables_keep_words_whole_or_become_blocks() {
        let table = |width| {
            let mut table = Table::new();
            table.load_style(comfy_table::presets::NOTHING).set_width(width).force_no_tty();
            table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
            table.set_header(["scheme", "epsilon at least", "method"]);
            table.add_row(["without-replacement", "4.06", "poisson's; told the steps that use the record"]);
            let mut text = Text::new(usize::from(width));
            text.table(&mut table);
            text.into_string()
        };
        for width in [30, 45, 60, 100] {
            let shown = table(width);
            for word in ["without-replacement", "epsilon", "poisson's;", "record"] {
                assert!(shown.contains(word), "{width}: {shown}");
            }
            assert!(
                shown.lines().all(|line| line.trim_end().chars().count() <= usize::from(width)),
                "{shown}"
            );
        }
        assert!(table(30).contains("   epsilon at least: 4.06"), "{}", table(30));
    }
}
