//! Text files of labelled zeros and ones, as in the privacytrustlab data sets: `label,f1,...,fd` on each line, no header.

use super::archive::visit_members;
use super::error::Problem;
use super::limited::{open, unreadable};
use super::records::{Records, Values};
use super::{Error, Result, Shape};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Limit for unpacked text; Purchase-100, the largest, has 197,324 lines of about 1,204 bytes.
const MOST_BYTES: u64 = 512 << 20;

/// The expected layout of a file.
#[derive(Clone, Copy)]
pub(super) struct FileLayout {
    /// Number of classes; labels are 1 to this number.
    pub classes: usize,
    /// Number of zeros and ones after each label.
    pub features: usize,
}

/// Reads the records in the member `name` of the archive at `path`.
pub(super) fn from_archive(path: &Path, name: &str, layout: FileLayout) -> Result<Records> {
    let mut records = None;
    visit_members(path, &[name.to_owned()], MOST_BYTES, |_, bytes, size| {
        let mut counted = bytes.take(size);
        records = Some(parse(&mut counted, layout)?);
        if counted.limit() == 0 { Ok(()) } else { Err("it is cut short".into()) }
    })?;
    records.ok_or_else(|| Error::in_file(path, HINT)(format!("it has no member {name}")))
}

/// Reads the records in the text file at `path`, which may be gzipped.
pub(super) fn from_file(path: &Path, layout: FileLayout) -> Result<Records> {
    parse(&mut open(path, MOST_BYTES)?, layout).map_err(Error::in_file(path, HINT))
}

const HINT: &str = "download it again from https://github.com/privacytrustlab/datasets";

/// Parses records line by line; the whole text is never in memory.
pub(super) fn parse(text: &mut dyn Read, layout: FileLayout) -> std::result::Result<Records, Problem> {
    let mut lines = BufReader::with_capacity(1 << 16, text);
    let (mut bits, mut labels, mut line) = (Vec::new(), Vec::new(), Vec::new());
    // Each field may be quoted and needs a comma; a label has a few more digits.
    let longest_line = 4 * (layout.features as u64 + 1) + 16;
    // A longer line is cut at this length, and then refused for its wrong number of fields.
    for number in 1.. {
        line.clear();
        lines.by_ref().take(longest_line).read_until(b'\n', &mut line).map_err(unreadable)?;
        if line.is_empty() {
            break;
        }
        let content = line.trim_ascii_end();
        if content.is_empty() && line.ends_with(b"\n") {
            continue;
        }
        let label =
            parse_line(content, layout, &mut bits).map_err(|problem| format!("line {number}: {problem}"))?;
        labels.push(label);
    }
    if labels.is_empty() {
        return Err("it holds no records".into());
    }
    Ok(Records { shape: Shape::flat(layout.features), values: Values::Bits(bits), labels })
}

/// Appends the features of one line to `bits` and returns its label, from 0.
fn parse_line(line: &[u8], layout: FileLayout, bits: &mut Vec<u8>) -> std::result::Result<u16, Problem> {
    let mut fields = line.split(|&byte| byte == b',').map(unquoted);
    let label = fields.next().and_then(|field| std::str::from_utf8(field).ok()?.parse::<usize>().ok());
    let Some(label) = label.filter(|label| (1..=layout.classes).contains(label)) else {
        return Err(format!("it does not begin with a label from 1 to {}", layout.classes));
    };
    let before = bits.len();
    for (index, field) in fields.enumerate() {
        match field {
            b"0" => bits.push(0),
            b"1" => bits.push(1),
            _ => return Err(format!("feature {} is neither 0 nor 1", index + 1)),
        }
    }
    let found = bits.len() - before;
    if found != layout.features {
        return Err(format!("there are {found} features, but {} are expected", layout.features));
    }
    Ok(label as u16 - 1)
}

/// Removes spaces and quotes around a field.
fn unquoted(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE_LAYOUT: FileLayout = FileLayout { classes: 3, features: 4 };

    #[test]
    fn reads_plain_and_quoted_labels() {
        let text = "1,0,1,0,1\r\n\"3\",1,1,0,0\n\n2,\"0\", 0,0,1";
        let records = parse(&mut text.as_bytes(), FILE_LAYOUT).unwrap();
        assert_eq!(records.labels, [0, 2, 1]);
        assert_eq!(records.values, Values::Bits(vec![0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1]));
    }

    #[test]
    fn refuses_the_rest_and_says_where() {
        let long = format!("1,0,1,0,1\n{}", "1,".repeat(100_000));
        let cases = [
            ("", "no records"),
            ("1,0,1,0", "line 1: there are 3 features, but 4 are expected"),
            ("1,0,1,0,1\n2,0,1,0,1,1\n", "line 2: there are 5 features"),
            ("4,0,0,0,0", "line 1: it does not begin with a label from 1 to 3"),
            ("0,0,0,0,0", "label from 1 to 3"),
            ("label,a,b,c,d\n", "label from 1 to 3"),
            ("1,0,2,0,0", "feature 2 is neither 0 nor 1"),
            (&long, "line 2: "),
            ("\u{fffd},1,0,1,1", "label"),
        ];
        for (text, expected) in cases {
            let problem = parse(&mut text.as_bytes(), FILE_LAYOUT).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
    }
}
