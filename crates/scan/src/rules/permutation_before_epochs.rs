//! A permutation that is drawn once, before a loop over epochs, and cut into batches in the loop.
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
//! The rule reports in private modules. The loop must slice the variable between varying bounds, and must not assign or shuffle
//! it.

use super::epochs::{self, draws_permutation};
use super::{Found, Reach, Rule};
use crate::module::Module;
use misdeal_results::Level;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprContext};
use ruff_text_size::{Ranged, TextSize};
use std::collections::{HashMap, HashSet};

pub const RULE: Rule = Rule {
    name: "permutation-before-epochs",
    finds: "a permutation drawn once and cut into the same batches in every epoch",
    why: "every epoch has the same batches, so noise can be averaged over epochs that the accountant takes for drawn anew",
    fix: "draw the permutation inside the loop over epochs, or sample by Poisson",
    reach: Reach::PrivateModules,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    if super::training_not_shuffled::keeps_order_on_purpose(module) {
        return;
    }
    let mut cuts = None;
    for call in module.facts.calls.iter().filter(|call| draws_permutation(call)) {
        let [name] = call.place.targets[..] else { continue };
        if epochs::around(&call.place).is_some() {
            continue;
        }
        let start = call.expression.range().start();
        let cuts = cuts.get_or_insert_with(|| last_cuts(module));
        let last = cuts.get(&call.place.around.functions).and_then(|cuts| cuts.get(name));
        if last.is_some_and(|last| *last > start) {
            found.add(call.expression.func.range(), format!("{name} is drawn once and cut in every epoch"));
        }
    }
}

/// The start of the last epoch loop that slices a variable without changing it, by function and variable.
type LastCuts<'a> = HashMap<Vec<&'a str>, HashMap<&'a str, TextSize>>;

fn last_cuts<'a>(module: &Module<'a>) -> LastCuts<'a> {
    let mut cuts = LastCuts::new();
    let of_epochs = module.facts.loops.iter().filter(|(repeat, ..)| epochs::is_epoch_loop(repeat));
    for (repeat, _, place) in of_epochs {
        let mut uses = Uses::default();
        uses.visit_body(&repeat.body);
        let unchanged = uses.cut.difference(&uses.changed);
        let start = repeat.range.start();
        let known = cuts.entry(place.around.functions.clone()).or_default();
        for name in unchanged {
            known.entry(name).and_modify(|last| *last = start.max(*last)).or_insert(start);
        }
    }
    cuts
}

/// The variables that a loop slices and changes.
#[derive(Default)]
struct Uses<'a> {
    cut: HashSet<&'a str>,
    changed: HashSet<&'a str>,
}

impl<'a> Visitor<'a> for Uses<'a> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if name.ctx == ExprContext::Store => {
                self.changed.insert(name.id.as_str());
            }
            Expr::Subscript(subscript) => {
                if let (Expr::Name(name), Expr::Slice(slice)) = (&*subscript.value, &*subscript.slice) {
                    let bounds = [&slice.lower, &slice.upper];
                    let varies = |bound: &&Option<Box<Expr>>| {
                        bound.as_ref().is_some_and(|bound| !bound.is_literal_expr())
                    };
                    if bounds.iter().all(varies) {
                        self.cut.insert(name.id.as_str());
                    }
                }
            }
            // The variable is passed to a function that shuffles in place.
            Expr::Call(call) => {
                let name = match &*call.func {
                    Expr::Attribute(attribute) => attribute.attr.as_str(),
                    Expr::Name(name) => name.id.as_str(),
                    _ => "",
                };
                if name.contains("shuffle") || name.contains("permut") {
                    let variables = call.arguments.args.iter().filter_map(Expr::as_name_expr);
                    self.changed.extend(variables.map(|name| name.id.as_str()));
                }
            }
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}
