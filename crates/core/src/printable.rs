//! Makes text from outside (file names, model names, columns, lines of code) safe to print.

use serde::Serializer;
use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// Whether a character is invisible.
///
/// True for characters that move the cursor, end a line, change the direction of text or have no width. False for the
/// joiners U+200C and U+200D, because words of several languages need them.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Soft hyphen, direction marks, line and paragraph separators.
            '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            // Invisible operators and isolates, byte order mark, annotations, fillers, tags.
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// `text` on one line, with hidden characters escaped as `\n`, `\t` or `\u{1b}`.
///
/// ```
/// use misdeal_core::printable;
/// assert_eq!(printable("a.csv\nVerdict: holds\u{202e}"), "a.csv\\nVerdict: holds\\u{202e}");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden, "")
}

/// `text` of several lines, with hidden characters escaped as in [`printable`]. Line feeds and tabs stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden_in_lines, "")
}

/// A JSON document without hidden characters.
///
/// A reader of the document gets its strings in the form that [`printable`] writes.
pub fn printable_json(document: &str) -> Cow<'_, str> {
    // In JSON a backslash is written twice.
    escaped(document, is_hidden_in_lines, "\\")
}

fn is_hidden_in_lines(c: char) -> bool {
    is_hidden(c) && c != '\n' && c != '\t'
}

fn escaped<'a>(text: &'a str, is_escaped: fn(char) -> bool, before: &str) -> Cow<'a, str> {
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) {
            shown.push_str(before);
            // `escape_debug` does not escape all of these characters.
            let _ = match c {
                '\n' | '\r' | '\t' => write!(shown, "{}", c.escape_default()),
                _ => write!(shown, "{}", c.escape_unicode()),
            };
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// A path as text. Bytes that are not UTF-8 become `\xff`.
///
/// A path with such bytes also has every backslash doubled.
pub fn path_text(path: &Path) -> Cow<'_, str> {
    if let Some(text) = path.to_str() {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Cow::Owned(text)
}

/// A path that is safe to print on one line.
pub fn printable_path(path: &Path) -> String {
    printable(&path_text(path)).into_owned()
}

/// Serializes a path as [`path_text`], so paths that are not UTF-8 work too.
///
/// # Errors
/// The serializer's error.
pub fn serialize_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path_text(path))
}

/// Serializes a path that may be absent, as [`serialize_path`] does.
///
/// # Errors
/// The serializer's error.
pub fn serialize_path_if_any<S: Serializer>(
    path: &Option<impl AsRef<Path>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => serialize_path(path.as_ref(), serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        let hidden = "\0\u{7}\u{8}\n\r\t\u{1b}[2J\u{7f}\u{85}\u{9b}\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2028}\u{2029}\u{2066}\u{2069}\u{ad}\u{200b}\u{2060}\u{feff}\u{3164}\u{e0041}";
        assert!(!printable(hidden).contains(is_hidden), "{}", printable(hidden));
        assert_eq!(printable("é ü 表 🂡 می\u{200c}خواهم \\n"), "é ü 表 🂡 می\u{200c}خواهم \\n");
        assert_eq!(printable("a\r\n\u{1b}[0m"), "a\\r\\n\\u{1b}[0m");
        assert_eq!(printable_lines("a\n\tb\r\n"), "a\n\tb\\r\n");
        let json = serde_json::to_string(&[hidden]).unwrap();
        let back: Vec<String> = serde_json::from_str(&printable_json(&json)).unwrap();
        assert!(back[0].contains("\\u{202e}") && !back[0].contains('\u{9b}'), "{back:?}");
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf_8_stay_apart() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let text = |bytes: &'static [u8]| path_text(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(text(b"a\xff\xfe.csv"), "a\\xff\\xfe.csv");
        assert_eq!(text(b"a\\xff\xfe.csv"), "a\\\\xff\\xfe.csv");
        assert_eq!(text(b"a\\b.csv"), "a\\b.csv");
    }
}
