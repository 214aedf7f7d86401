//! Batches cut from a random permutation, in a module with a private optimizer or with accounting for Poisson sampling.
//!
//! The private optimizer is one of Optax or jax-privacy.
//!
//! # Example
//! ```python
//! optimizer = optax.contrib.differentially_private_aggregate(1.0, 1.1, 0)
//! for epoch in range(epochs):
//!     order = jax.random.permutation(key, len(records))
//!     for step in range(steps):
//!         batch = records[order[step * size:(step + 1) * size]]
//! ```
//!
//! The rule reports in private modules, if the permutation is drawn in a loop over epochs, or before a private training of the same
//! function, and nothing near samples by Poisson. Indices that are shuffled in place (`rng.shuffle(indices)`) count too.

use super::accounting::poisson_accounting;
use super::cuts::{is_truncated, shuffles_in_place};
use super::epochs::{self, draws_permutation};
use super::{Found, Reach, Rule};
use crate::flow::Call;
use crate::libraries::is_private_optimizer;
use crate::module::Module;
use crate::role::{Role, words};
use misdeal_results::Level;
use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "permuted-batches",
    finds: "batches cut out of a permutation where Poisson sampling is accounted for",
    why: "cutting a permutation into batches is shuffling, which can leak several times the epsilon of Poisson sampling",
    fix: "draw every batch by independent coin flips, or account for shuffling (misdeal account --scheme shuffle)",
    reach: Reach::PrivateModules,
    level: Level::Warning,
    check,
};

fn check(module: &Module, found: &mut Found) {
    let facts = &module.facts;
    let is_optimizer = |name: &str| is_private_optimizer(name) && !name.starts_with("make_private");
    let has_optimizer = facts.calls.iter().any(|call| call.last_name().is_some_and(is_optimizer));
    let is_private = has_optimizer || poisson_accounting(module).next().is_some();
    if !is_private {
        return;
    }
    let draws = facts.calls.iter().filter(|call| draws_permutation(call) || shuffles_indices(call));
    for call in draws {
        let is_evaluation = Role::of_targets(&call.place) == Role::Evaluation
            || Role::around(&call.place) == Role::Evaluation;
        let is_for_epochs = epochs::around(&call.place).is_some() || precedes_training(module, call);
        let is_other = is_truncated(&module.source.text[call.expression.range().end().to_usize()..]);
        if is_for_epochs && !is_evaluation && !is_other && !module.poisson().is_near(&call.place) {
            found.add(call.expression.func.range(), "batches are cut out of a permutation");
        }
    }
}

/// Whether a call shuffles indices in place, as their name says.
fn shuffles_indices(call: &Call) -> bool {
    const INDICES: [&str; 9] =
        ["idx", "idxes", "idxs", "indexes", "indices", "inds", "order", "perm", "permutation"];
    shuffles_in_place(call)
        && matches!(call.arguments.positional[0].0, Expr::Name(name)
            if words(name.id.as_str()).iter().any(|word| INDICES.contains(&word.as_str())))
}

/// Whether the order that a call draws is cut or indexed afterwards: `order[i:j]`.
fn is_cut(module: &Module, call: &Call) -> bool {
    let shuffled =
        call.arguments.positional.first().map(|(expression, _)| &module.source.text[expression.range()]);
    let name = if shuffles_indices(call) { shuffled } else { call.place.targets.first().copied() };
    let rest = &module.source.text[call.expression.range().end().to_usize()..];
    let rest = &rest[..rest.floor_char_boundary(LONGEST_FUNCTION)];
    name.is_some_and(|name| rest.contains(&format!("{name}[")))
}

/// Number of bytes after a permutation in which its use is looked for.
const LONGEST_FUNCTION: usize = 8_000;

/// Whether a private training follows in the same function, whose caller loops over epochs.
fn precedes_training(module: &Module, call: &Call) -> bool {
    let own = &call.place.around.functions;
    let last = || module.trainings().last_private(own);
    !own.is_empty()
        && is_cut(module, call)
        && call.place.around.loops.is_empty()
        && last().is_some_and(|start| start > call.expression.range().end())
}
