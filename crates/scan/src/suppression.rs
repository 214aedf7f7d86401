//! Comments that suppress findings: `# misdeal: ignore`, `# misdeal: ignore[rule, other-rule]`, `# misdeal: ignore-file`.

use crate::source::Source;
use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_text_size::Ranged;
use std::collections::{HashMap, HashSet};

/// The suppressing comments of one source.
#[derive(Debug, Default)]
pub struct Suppressions {
    whole_file: bool,
    // Suppressions by the offset at which their line starts.
    lines: HashMap<usize, Silence>,
}

#[derive(Debug)]
enum Silence {
    Everything,
    Rules(HashSet<String>),
}

impl Suppressions {
    /// Adds the comments of a source, or of a part of it.
    pub fn read(&mut self, source: &Source, tokens: &Tokens) {
        for token in tokens.iter().filter(|token| token.kind() == TokenKind::Comment) {
            let range = token.range();
            let comment = &source.text[range];
            // A comment may follow another: `# type: ignore  # misdeal: ignore`.
            for part in comment.split('#') {
                let Some(word) = part.trim().strip_prefix("misdeal:").map(str::trim) else { continue };
                if word.starts_with("ignore-file") {
                    self.whole_file = true;
                } else if let Some(rest) = word.strip_prefix("ignore") {
                    let start = source.line_start(range.start().to_usize());
                    self.lines.insert(start, Silence::of(rest));
                }
            }
        }
    }

    /// Whether a rule is suppressed on the line of either offset.
    pub fn silences(&self, source: &Source, offsets: [usize; 2], rule: &str) -> bool {
        self.whole_file
            || offsets.iter().any(|offset| match self.lines.get(&source.line_start(*offset)) {
                Some(Silence::Everything) => true,
                Some(Silence::Rules(rules)) => rules.contains(rule),
                None => false,
            })
    }
}

impl Silence {
    fn of(rest: &str) -> Self {
        match rest.trim_start().strip_prefix('[').and_then(|list| list.split(']').next()) {
            Some(list) => Silence::Rules(list.split(',').map(|rule| rule.trim().to_owned()).collect()),
            None => Silence::Everything,
        }
    }
}
