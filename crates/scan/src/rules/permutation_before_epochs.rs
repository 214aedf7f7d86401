//! # What it finds
//! A permutation that is drawn once, before a loop over epochs, and cut into batches within it.
//!
//! # Why it matters
//! Every epoch has the same batches, so noise can be averaged over epochs that the accountant takes for drawn anew.
//!
//! # How to fix
//! Draw the permutation inside the loop, or sample by Poisson.
//!
//! # Example
//! ```python
//! import dp_accounting
//! order = np.random.permutation(len(records))
//! for epoch in range(epochs):
//!     for step in range(steps):
//!         batch = records[order[step * size:(step + 1) * size]]
//! ```
//!
//! It speaks in private modules, where the loop slices the variable between bounds that vary and does not assign or shuffle it.

use super::epochs::{self, draws_permutation};
use super::{Found, Page, Reach, Rule};
use crate::finding::Level;
use crate::module::Module;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprContext};
use ruff_text_size::Ranged;

/// The rule.
pub struct PermutationBeforeEpochs;

const PAGE: Page = Page {
    name: "permutation-before-epochs",
    finds: "a permutation drawn once and cut into the same batches in every epoch",
    why: "every epoch has the same batches, so noise can be averaged over epochs that the accountant takes for drawn anew",
    fix: "draw the permutation inside the loop over epochs, or sample by Poisson",
    reach: Reach::PrivateModules,
    level: Level::Error,
};

impl Rule for PermutationBeforeEpochs {
    fn page(&self) -> &'static Page {
        &PAGE
    }

    fn check(&self, module: &Module, found: &mut Found) {
        for call in module.facts.calls.iter().filter(|call| draws_permutation(call)) {
            let [name] = call.place.targets[..] else { continue };
            if epochs::around(&call.place).is_some() {
                continue;
            }
            let start = call.expression.range().start();
            let is_cut_in = module.facts.loops.iter().any(|(repeat, _, place)| {
                let is_after =
                    repeat.range.start() > start && place.around.functions == call.place.around.functions;
                is_after && epochs::is_epoch_loop(repeat) && {
                    let mut uses = Uses { name, is_cut: false, is_changed: false };
                    uses.visit_body(&repeat.body);
                    uses.is_cut && !uses.is_changed
                }
            });
            if is_cut_in {
                found.add(
                    call.expression.func.range(),
                    format!("{name} is drawn once and cut in every epoch"),
                );
            }
        }
    }
}

/// What a loop does with a variable.
struct Uses<'a> {
    name: &'a str,
    is_cut: bool,
    is_changed: bool,
}

impl Uses<'_> {
    fn is_variable(&self, expression: &Expr) -> bool {
        matches!(expression, Expr::Name(name) if name.id.as_str() == self.name)
    }
}

impl<'a> Visitor<'a> for Uses<'_> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if name.id.as_str() == self.name && name.ctx == ExprContext::Store => {
                self.is_changed = true;
            }
            Expr::Subscript(subscript) if self.is_variable(&subscript.value) => {
                if let Expr::Slice(slice) = &*subscript.slice {
                    let bounds = [&slice.lower, &slice.upper];
                    let varies = |bound: &&Option<Box<Expr>>| {
                        bound.as_ref().is_some_and(|bound| !bound.is_literal_expr())
                    };
                    self.is_cut |= bounds.iter().all(varies);
                }
            }
            // Passed to something that shuffles in place.
            Expr::Call(call) if call.arguments.args.iter().any(|argument| self.is_variable(argument)) => {
                let name = match &*call.func {
                    Expr::Attribute(attribute) => attribute.attr.as_str(),
                    Expr::Name(name) => name.id.as_str(),
                    _ => "",
                };
                self.is_changed |= name.contains("shuffle") || name.contains("permut");
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}
