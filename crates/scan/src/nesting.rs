//! Refuses sources that are nested too deeply, before a parser recurses into them.
//!
//! CPython itself refuses 200 nested brackets and some thousand operators in one expression. The bound here is on the depth of the
//! syntax tree. It adds brackets, indentation, and operators since the last separator in each open bracket. It is computed from
//! the bytes, without building anything.
//!
//! Format strings contain code, and that code may contain strings with the same quotes. If something is missing, the parser reads
//! such strings a second time in another way. Therefore, after the first format string, all text is counted as code. Prose then
//! seems nested a little, so the second bound is larger. It limits the parser's memory and time.

/// The depth bound above which a source is not parsed.
pub const DEEPEST: usize = 10_000;

/// The same limit when text is counted as code.
const DEEPEST_WITH_TEXT: usize = 50_000;

/// Largest number of nested blocks that is parsed; CPython stops at 100.
const MOST_BLOCKS: usize = 200;

/// Whether the syntax tree of a source may be deeper than [`DEEPEST`].
pub fn is_too_deep(source: &[u8]) -> bool {
    // Each level needs at least one byte.
    source.len() > DEEPEST
        && (deepest(source, source.len()) > DEEPEST || depth_with_text(source) > DEEPEST_WITH_TEXT)
}

/// A bound on the depth of the parser's recursion, if text is counted as code.
///
/// It is 0 for short sources, and for sources without format strings.
pub fn depth_with_text(source: &[u8]) -> usize {
    let start = first_format(source);
    if start == source.len() || source.len() <= DEEPEST { 0 } else { deepest(source, start) }
}

/// The position of the first quote that may begin a format string; the source's length if there is none.
pub fn first_format(source: &[u8]) -> usize {
    let is_prefix = |byte: u8| matches!(byte, b'f' | b'F' | b't' | b'T');
    let follows_prefix = |at: usize| match source[..at] {
        [.., first, b'r' | b'R'] => is_prefix(first),
        [.., last] => is_prefix(last),
        [] => false,
    };
    let begins = |&at: &usize| matches!(source[at], b'"' | b'\'') && follows_prefix(at);
    (0..source.len()).find(begins).unwrap_or(source.len())
}

/// A bound on the depth of the syntax tree. After `all_code_from`, strings and comments count as code.
fn deepest(source: &[u8], all_code_from: usize) -> usize {
    // The number of operators since the last separator, for the statement and each open bracket; `depth` is their sum.
    let mut levels = vec![0_usize];
    let mut depth = 0_usize;
    let mut deepest = 0_usize;
    let mut at = 0;
    let mut line_start = true;
    // The columns of the open blocks.
    let mut blocks = Vec::new();
    let mut in_word = false;
    while at < source.len() {
        let byte = source[at];
        let was_in_word =
            std::mem::replace(&mut in_word, byte.is_ascii_alphanumeric() || byte >= 128 || byte == b'_');
        if std::mem::take(&mut line_start) && levels.len() == 1 {
            let indentation = source[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            depth = indentation;
            levels[0] = indentation;
            let is_blank = matches!(source.get(at + indentation), None | Some(b'\n' | b'\r' | b'#'));
            if !is_blank {
                while blocks.last().is_some_and(|&column| column >= indentation) {
                    blocks.pop();
                }
                blocks.push(indentation);
                if blocks.len() > MOST_BLOCKS {
                    return usize::MAX;
                }
            }
        }
        match byte {
            b'#' if at < all_code_from => {
                at += source[at..].iter().position(|byte| *byte == b'\n').unwrap_or(source.len() - at) - 1;
            }
            b'"' | b'\'' if at < all_code_from => at = end_of_string(source, at),
            b'(' | b'[' | b'{' => {
                levels.push(1);
                depth += 1;
            }
            b')' | b']' | b'}' => {
                if levels.len() > 1 {
                    depth -= levels.pop().unwrap_or(0);
                }
                // A call or attribute after a bracket makes the tree one level deeper.
                *levels.last_mut().unwrap_or(&mut 0) += 1;
                depth += 1;
            }
            b',' | b';' => {
                if let Some(level) = levels.last_mut() {
                    depth -= std::mem::take(level);
                }
            }
            b'\n' => line_start = true,
            b' ' | b'\t' | b'\r' | b'\\' => {}
            // Words count too: `not`, `lambda`, `if` and `else` nest like operators.
            _ if in_word && was_in_word => {}
            _ => {
                if let Some(level) = levels.last_mut() {
                    *level += 1;
                    depth += 1;
                }
            }
        }
        deepest = deepest.max(depth);
        at += 1;
    }
    deepest
}

/// The position of the last byte of the string that begins at `start`.
pub fn end_of_string(source: &[u8], start: usize) -> usize {
    let quote = source[start];
    let is_triple = source[start..].starts_with(&[quote; 3]);
    let mut at = start + if is_triple { 3 } else { 1 };
    while at < source.len() {
        match source[at] {
            b'\\' => at += 1,
            b'\n' if !is_triple => return at - 1,
            byte if byte == quote && (!is_triple || source[at..].starts_with(&[quote; 3])) => {
                return at + if is_triple { 2 } else { 0 };
            }
            _ => {}
        }
        at += 1;
    }
    source.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_sources_are_shallow() {
        let long_table = format!("x = [{}]\n", "-1.5, ".repeat(100_000));
        let long_text = format!("x = '''{}'''\n# {}\n", "(".repeat(10_000), "[".repeat(10_000));
        let many_lines = "def f(x):\n    return x.a(1).b(2) + 3\n".repeat(10_000);
        for source in [long_table, long_text, many_lines] {
            assert!(
                !is_too_deep(source.as_bytes()),
                "{}: {}",
                &source[..20],
                deepest(source.as_bytes(), source.len())
            );
        }
    }

    #[test]
    fn towers_are_refused() {
        for tower in ["(", "[", "-", "not ", "lambda:", "x.", "1+", "f(", "a[0]", "{1:", "x if y else "] {
            assert!(is_too_deep(tower.repeat(DEEPEST + 1).as_bytes()), "{tower}");
        }
        let blocks: String = (0..11_000).map(|level| " ".repeat(level) + "if x:\n").collect();
        assert!(is_too_deep(blocks.as_bytes()));
    }

    #[test]
    fn towers_in_format_strings_are_refused() {
        let long = |tower: &str| tower.repeat(DEEPEST_WITH_TEXT + 1);
        for source in [
            format!("x = f\"{{{}", long("(")),
            format!("x = Rf'''{{{}1}}'''", long("-")),
            format!("x = f\"{{\"a\" {}}}\"", long("not ")),
            format!("x = fr\"{{x\" {} \"", long("[")),
            format!("x = f\"{}", long("{f'")),
            format!("x = T'''{{'''a''' {} '''}}'''", long("(")),
        ] {
            assert!(is_too_deep(source.as_bytes()), "{}", &source[..20]);
        }
        let prose =
            format!("x = f'{{y}}'\n'''{}'''\n# {}", "a (b) c, ".repeat(100_000), "d 'e'; ".repeat(100_000));
        assert!(!is_too_deep(prose.as_bytes()), "{}", depth_with_text(prose.as_bytes()));
    }
}
