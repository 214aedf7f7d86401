//! Batches that are cut out of arrays by hand, and what reorders the arrays.

use super::epochs::draws_permutation;
use crate::flow::{Call, Loop, Place};
use crate::module::Module;
use crate::role::words;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, StmtFor};
use ruff_text_size::Ranged;
use std::rc::Rc;

/// Whether a call shuffles a sequence in place: `np.random.shuffle(order)`, `rng.shuffle(order)`.
pub fn shuffles_in_place(call: &Call) -> bool {
    call.last_name() == Some("shuffle")
        && call.arguments.positional.len() == 1
        && match call.name() {
            Some(name) => ["random.", "numpy."].iter().any(|package| name.starts_with(package)),
            None => {
                call.method().is_some()
                    && matches!(&call.arguments.positional[0].0, Expr::Name(_) | Expr::Attribute(_))
            }
        }
}

/// Whether something near a place draws an order or a sample of records.
pub fn is_reordered<'a>(module: &Module<'a>, place: &Place<'a>) -> bool {
    module.facts.calls.iter().any(|call| {
        let name = call.last_name().unwrap_or("");
        let reorders = draws_permutation(call)
            || words(name).iter().any(|word| {
                matches!(word.as_str(), "shuffle" | "shuffled" | "permute" | "sample" | "choice" | "sampler")
            });
        reorders && module.graph().relates(place, &call.place)
    })
}

/// The loops that learn privately from `x[i:i + size]` or `x[i * size:(i + 1) * size]`, where nothing reorders records.
pub fn sequential_cuts<'m, 'a>(module: &'m Module<'a>) -> impl Iterator<Item = Rc<Place<'a>>> + 'm {
    let trainings = module.trainings();
    let private = trainings.all.iter().filter(|training| trainings.is_private(training)).take(50);
    let in_loops = private.filter(|training| {
        training
            .place
            .around
            .loops
            .iter()
            .any(|repeat| matches!(repeat, Loop::For(repeat) if cuts_by_its_variable(repeat)))
    });
    in_loops
        .filter(|training| !is_reordered(module, &training.place))
        .map(|training| Rc::clone(&training.place))
}

/// Whether a loop over a range slices a sequence between bounds that contain its variable.
fn cuts_by_its_variable(repeat: &StmtFor) -> bool {
    let (Expr::Name(variable), Expr::Call(range)) = (&*repeat.target, &*repeat.iter) else { return false };
    if !matches!(&*range.func, Expr::Name(name) if matches!(name.id.as_str(), "range" | "trange")) {
        return false;
    }
    let mut slices = Slices { variable: variable.id.as_str(), found: false };
    slices.visit_body(&repeat.body);
    slices.found
}

struct Slices<'a> {
    variable: &'a str,
    found: bool,
}

impl<'a> Visitor<'a> for Slices<'_> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Subscript(subscript) = expression
            && let Expr::Slice(slice) = &*subscript.slice
            && let (Some(lower), Some(upper)) = (&slice.lower, &slice.upper)
        {
            let mentions = |bound: &'a Expr| {
                let mut mention = Mention { name: self.variable, found: false };
                mention.visit_expr(bound);
                mention.found
            };
            self.found |= mentions(lower) && mentions(upper) && lower.range() != upper.range();
        }
        visitor::walk_expr(self, expression);
    }
}

struct Mention<'n> {
    name: &'n str,
    found: bool,
}

impl<'a> Visitor<'a> for Mention<'_> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        self.found |= matches!(expression, Expr::Name(name) if name.id.as_str() == self.name);
        visitor::walk_expr(self, expression);
    }
}

/// Whether the assigned names speak of the indices or records of a batch.
pub fn names_indices(place: &Place) -> bool {
    const NAMES: [&str; 14] = [
        "batch",
        "idx",
        "idxs",
        "ids",
        "ind",
        "indexes",
        "indices",
        "inds",
        "lot",
        "minibatch",
        "perm",
        "rand",
        "sample",
        "subset",
    ];
    const OTHERS: [&str; 12] = [
        "canary", "canaries", "class", "client", "clients", "label", "labels", "noise", "user", "users",
        "worker", "workers",
    ];
    let mut found = false;
    for name in &place.targets {
        let words = words(name);
        found |= words.iter().any(|word| NAMES.contains(&word.as_str()));
        if words.iter().any(|word| OTHERS.contains(&word.as_str())) {
            return false;
        }
    }
    found
}

/// Whether a text begins with a slice from the start: `[:size]`.
pub fn is_truncated(text: &str) -> bool {
    text.starts_with("[:") && !text.starts_with("[:]")
}
