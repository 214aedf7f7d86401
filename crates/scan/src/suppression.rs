//! Comments that silence rules: `# misdeal: ignore`, `# misdeal: ignore[rule, other-rule]`, `# misdeal: ignore-file`.

use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_text_size::Ranged;
use std::collections::HashMap;

/// The comments of one source.
#[derive(Debug, Default)]
pub struct Suppressions {
    whole_file: bool,
    // By the offset of the line's start.
    lines: HashMap<usize, Silence>,
}

#[derive(Debug)]
enum Silence {
    Everything,
    Rules(Vec<String>),
}

impl Suppressions {
    /// Takes in the comments of a source or of a part of it.
    pub fn read(&mut self, text: &str, tokens: &Tokens) {
        for token in tokens.iter().filter(|token| token.kind() == TokenKind::Comment) {
            let range = token.range();
            let comment = &text[range];
            // A comment may follow another: `# type: ignore  # misdeal: ignore`.
            for part in comment.split('#') {
                let Some(word) = part.trim().strip_prefix("misdeal:").map(str::trim) else { continue };
                if word.starts_with("ignore-file") {
                    self.whole_file = true;
                } else if let Some(rest) = word.strip_prefix("ignore") {
                    let start = line_start(text, range.start().to_usize());
                    self.lines.insert(start, Silence::of(rest));
                }
            }
        }
    }

    /// Whether a rule is silenced on the line of one of some offsets.
    pub fn silences(&self, text: &str, offsets: [usize; 2], rule: &str) -> bool {
        self.whole_file
            || offsets.iter().any(|offset| match self.lines.get(&line_start(text, *offset)) {
                Some(Silence::Everything) => true,
                Some(Silence::Rules(rules)) => rules.iter().any(|silenced| silenced == rule),
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

fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |end| end + 1)
}
