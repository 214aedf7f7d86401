//! Finds loops over epochs, and random permutations.

use crate::flow::{Call, Loop, Place};
use crate::role::words;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, StmtFor};

/// Whether a loop runs over epochs, judged by its variable or range.
pub fn is_epoch_loop(repeat: &StmtFor) -> bool {
    let mut mention = Mention { found: false };
    mention.visit_expr(&repeat.target);
    mention.visit_expr(&repeat.iter);
    mention.found
}

/// The innermost loop over epochs that contains a place.
pub fn around<'a>(place: &Place<'a>) -> Option<&'a StmtFor> {
    let loops = &place.around.loops;
    let is_over_epochs = |repeat: &Loop| matches!(repeat, Loop::For(repeat) if is_epoch_loop(repeat));
    let innermost = place.around.asked.epochs.get_or_init(|| loops.iter().rposition(is_over_epochs));
    match innermost.map(|place| loops[place]) {
        Some(Loop::For(repeat)) => Some(repeat),
        _ => None,
    }
}

/// Whether a call draws a random permutation.
pub fn draws_permutation(call: &Call) -> bool {
    match call.last_name() {
        Some("randperm") => call.name().is_some_and(|name| name.starts_with("torch")),
        Some("permutation") => true,
        _ => false,
    }
}

struct Mention {
    found: bool,
}

impl<'a> Visitor<'a> for Mention {
    fn visit_expr(&mut self, expression: &'a Expr) {
        let name = match expression {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        self.found |= words(name).iter().any(|word| word == "epoch" || word == "epochs");
        visitor::walk_expr(self, expression);
    }
}
