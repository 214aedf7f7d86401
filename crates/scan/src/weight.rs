//! Upper bounds on the memory that a source needs, computed before it is parsed.
//!
//! Syntax trees and facts need up to 130 bytes for each byte of source, and many files are scanned at a time. The weights were
//! measured on the most expensive sources of each kind. After a format string, all text is weighed as code (see
//! [`crate::nesting`]).

use crate::nesting::{depth_with_text, end_of_string, first_format};
use std::sync::{Condvar, Mutex, PoisonError};

/// Limit in bytes for all files that are scanned at a time.
pub const MOST_BYTES: usize = 850_000_000;

/// Bytes per unit of effort: an operation needs at most 130 bytes and counts as at least four units.
pub const BYTES_OF_EFFORT: usize = 33;

/// Bytes that the parser's recursion needs per level.
const BYTES_OF_LEVEL: usize = 4_000;

/// Upper bound in bytes for parsing and reading a source, without following its values.
pub fn weight(source: &[u8]) -> usize {
    let mut weight = 0;
    let (mut brackets, mut is_empty_line, mut in_word) = (0_usize, true, false);
    let all_code_from = first_format(source);
    let mut at = 0;
    while at < source.len() {
        let byte = source[at];
        let was_in_word =
            std::mem::replace(&mut in_word, byte.is_ascii_alphanumeric() || byte >= 128 || byte == b'_');
        // A decimal point belongs to its number.
        in_word |= byte == b'.' && was_in_word && source[at - 1].is_ascii_digit();
        // Brackets in text may be unclosed.
        let is_statement = brackets == 0 || at >= all_code_from;
        weight += match byte {
            b'\n' if std::mem::replace(&mut is_empty_line, true) => 25,
            b'\n' => 125,
            b' ' | b'\t' | b'\r' | b'\\' => 0,
            b'#' if at < all_code_from => {
                at += source[at..].iter().position(|byte| *byte == b'\n').unwrap_or(source.len() - at) - 1;
                15
            }
            b'"' | b'\'' => {
                if at < all_code_from {
                    at = end_of_string(source, at);
                }
                150
            }
            b'{' if at >= all_code_from => 350,
            b'(' | b'[' | b'{' => {
                brackets += 1;
                if byte == b'(' { 215 } else { 100 }
            }
            b')' | b']' | b'}' => {
                brackets = brackets.saturating_sub(1);
                30
            }
            b',' | b';' => {
                if is_statement {
                    155
                } else {
                    75
                }
            }
            b'=' => 280,
            _ if in_word && was_in_word => 0,
            b'.' => 45,
            _ if in_word => 75,
            _ => 100,
        };
        is_empty_line &= matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'#');
        at += 1;
    }
    weight + 12 * source.len() / 10 + BYTES_OF_LEVEL * depth_with_text(source).min(50_000)
}

/// A memory budget that threads share. A thread waits until the bytes it needs are free.
#[derive(Debug)]
pub struct Room {
    left: Mutex<usize>,
    freed: Condvar,
}

/// A part of a [`Room`], released when it is dropped.
#[derive(Debug)]
pub struct Part<'a>(&'a Room, usize);

impl Room {
    pub fn new(bytes: usize) -> Self {
        Room { left: Mutex::new(bytes), freed: Condvar::new() }
    }

    /// Takes `bytes` from the budget; waits until they are free.
    pub fn take(&self, bytes: usize) -> Part<'_> {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left =
            self.freed.wait_while(left, |left| *left < bytes).unwrap_or_else(PoisonError::into_inner);
        *left -= bytes;
        Part(self, bytes)
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        *self.0.left.lock().unwrap_or_else(PoisonError::into_inner) += self.1;
        self.0.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Peak memory in bytes for each repetition, measured on sources of 16 MB.
    #[test]
    fn nothing_weighs_less_than_it_took() {
        let measured = [
            ("a\n", 195),
            ("f()\n", 406),
            ("a;", 187),
            ("a:b=1\n", 623),
            ("a,b=c,d\n", 1_000),
            ("a<b<c\n", 509),
            ("f(a=1)\n", 840),
            ("f\"{a}{b}\"\n", 705),
            ("a.b.c.d\n", 506),
            ("lambda:0\n", 311),
            ("'\n", 264),
            ("#\n", 35),
            ("\n", 21),
            ("def f():pass\n", 285),
            ("if a:\n b\n", 420),
        ];
        for (text, bytes) in measured {
            assert!(
                weight(text.repeat(100).as_bytes()) >= 100 * bytes,
                "{text}: {}",
                weight(text.repeat(100).as_bytes()) / 100
            );
        }
        for (text, bytes) in [("1,", 149), ("-1.5, ", 246), ("'ab', ", 189), ("1:2,", 177)] {
            let table = format!("[{}]", text.repeat(100));
            assert!(weight(table.as_bytes()) >= 100 * bytes, "{text}: {}", weight(table.as_bytes()) / 100);
        }
    }

    #[test]
    fn what_is_dropped_is_free_again() {
        let room = Room::new(10);
        drop(room.take(10));
        let (first, _second) = (room.take(4), room.take(6));
        drop(first);
        let _third = room.take(4);
    }
}
