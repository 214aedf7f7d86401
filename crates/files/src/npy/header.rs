//! The header of a `.npy` file: a Python dictionary of three entries, parsed strictly.
//!
//! The format is that of Python's `numpy.lib.format`: the bytes `\x93NUMPY`, two bytes for the version, two or four for the
//! length, then for example `{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }`. The parser accepts only what an array of
//! numbers needs. A header, however deep or long, therefore costs no more than its own length.

use std::io::{self, Read};

/// The first bytes of a `.npy` file.
pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Longest header that NumPy reads by default, in bytes.
const LONGEST: u32 = 10_000;

/// What is wrong with a header; follows "the header" in the message.
pub type Problem = String;

/// The header of an array.
#[derive(Debug, PartialEq)]
pub struct Header {
    /// The type of the elements, for example `<f8`.
    pub element: String,
    /// The array's dimensions.
    pub shape: Vec<u64>,
    /// Whether the first axis varies fastest.
    pub fortran_order: bool,
    /// Number of bytes before the first element.
    pub length: u64,
}

/// Reads the header up to the first element. The inner error describes a malformed header.
///
/// # Errors
/// `input` fails, or ends within the header ([`UnexpectedEof`](io::ErrorKind::UnexpectedEof)).
pub fn read_header(input: &mut impl Read) -> io::Result<Result<Header, Problem>> {
    let mut start = [0; 8];
    input.read_exact(&mut start)?;
    if !start.starts_with(MAGIC) {
        return Ok(Err("does not begin as a .npy file".into()));
    }
    let (digits, text_length) = match start[6] {
        1 => {
            let mut bytes = [0; 2];
            input.read_exact(&mut bytes)?;
            (2, u32::from(u16::from_le_bytes(bytes)))
        }
        2 | 3 => {
            let mut bytes = [0; 4];
            input.read_exact(&mut bytes)?;
            (4, u32::from_le_bytes(bytes))
        }
        version => return Ok(Err(format!("has the unknown version {version}"))),
    };
    if text_length > LONGEST {
        return Ok(Err(format!("claims {text_length} bytes for itself")));
    }
    let mut text = vec![0; text_length as usize];
    input.read_exact(&mut text)?;
    let length = 8 + digits + u64::from(text_length);
    Ok(parse(&text)
        .map(|(element, shape, fortran_order)| Header { element, shape, fortran_order, length })
        .ok_or_else(|| "does not describe a plain array of numbers".into()))
}

/// Parses element type, shape and whether the order is Fortran's. Exactly these three entries are allowed.
fn parse(text: &[u8]) -> Option<(String, Vec<u64>, bool)> {
    let text = std::str::from_utf8(text).ok()?;
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim_start();
    let (mut element, mut order, mut shape) = (None, None, None);
    while !rest.is_empty() {
        let (key, after) = string(rest)?;
        let value = after.trim_start().strip_prefix(':')?.trim_start();
        let after = match key {
            "descr" if element.is_none() => {
                let (name, after) = string(value)?;
                element = Some(name.to_owned());
                after
            }
            "fortran_order" if order.is_none() => {
                let word = ["True", "False"].into_iter().find(|word| value.starts_with(word))?;
                order = Some(word == "True");
                &value[word.len()..]
            }
            "shape" if shape.is_none() => {
                let (inside, after) = value.strip_prefix('(')?.split_once(')')?;
                shape = Some(dimensions(inside)?);
                after
            }
            _ => return None,
        };
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(after) => after.trim_start(),
            None if after.is_empty() => after,
            None => return None,
        };
    }
    Some((element?, shape?, order?))
}

/// Splits `text` into the quoted string at its start, without escapes, and the rest.
fn string(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (inside, after) = text[1..].split_once(quote)?;
    (!inside.contains('\\')).then_some((inside, after))
}

/// Parses `3, 4` or `3,` or an empty text. (Python 2 wrote `3L`.)
fn dimensions(text: &str) -> Option<Vec<u64>> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Vec::new());
    }
    let parts = text.strip_suffix(',').unwrap_or(text).split(',');
    parts.map(|part| part.trim().trim_end_matches('L').parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_numpy_writes_and_refuses_the_rest() {
        let good: [(&str, &str, &[u64]); 5] = [
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", "<f8", &[3]),
            ("{'shape': (3, 4), 'fortran_order': True, 'descr': '|i1'}   \n", "|i1", &[3, 4]),
            ("{\"descr\": \">f4\", 'fortran_order':False, 'shape':()}", ">f4", &[]),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (10L,), }", "<f8", &[10]),
            ("{'descr': 'x', 'fortran_order': False, 'shape': (18446744073709551615,)}", "x", &[u64::MAX]),
        ];
        for (text, element, shape) in good {
            let expected = (element.to_owned(), shape.to_vec(), text.contains("True"));
            assert_eq!(parse(text.as_bytes()), Some(expected), "{text}");
        }
        let bad = [
            "",
            "{}",
            "{'descr': '<f8', 'shape': (3,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551616,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'more': 1}",
            "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f8' 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}",
            "((((((((",
        ];
        for text in bad {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse(b"\xff\xfe"), None);
    }
}
