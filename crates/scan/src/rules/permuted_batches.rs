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
//! The rule reports in private modules, if the permutation is drawn in a loop over epochs and nothing hints at Poisson sampling.

use super::accounting::poisson_accounting;
use super::epochs::{self, draws_permutation};
use super::{Found, Reach, Rule};
use crate::libraries::is_private_optimizer;
use crate::module::Module;
use crate::role::Role;
use misdeal_results::Level;
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
    for call in facts.calls.iter().filter(|call| draws_permutation(call)) {
        let is_evaluation = Role::of_targets(&call.place) == Role::Evaluation
            || Role::around(&call.place) == Role::Evaluation;
        if epochs::around(&call.place).is_some()
            && !is_evaluation
            && !module.poisson().is_near(module, &call.place)
        {
            found.add(call.expression.func.range(), "batches are cut out of a permutation");
        }
    }
}
