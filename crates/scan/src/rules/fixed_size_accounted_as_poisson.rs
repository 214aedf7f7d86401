//! Batches of a fixed size, drawn anew at every step, where Poisson sampling is accounted for.
//!
//! Such batches are `np.random.choice(n, size)`, `random.sample(range(n), size)`, `torch.randperm(n)[:size]`,
//! `jax.random.choice(key, n, (size,))` and `randint` as indices.
//!
//! # Example
//! ```python
//! from tensorflow_privacy.privacy.analysis.rdp_accountant import compute_rdp
//! rdp = compute_rdp(q=size / n, noise_multiplier=sigma, steps=steps, orders=orders)
//! for step in range(steps):
//!     batch = np.random.choice(n, size=size, replace=False)
//!     update(records[batch])
//! ```
//!
//! The rule reports in private modules, if the draw is in a loop that learns or its variable is named as indices, and accounting
//! for Poisson sampling is in a function that belongs to the same run.

use super::accounting::poisson_accounting;
use super::cuts::{is_truncated, names_indices};
use super::{Found, Reach, Rule};
use crate::flow::{Call, Loop};
use crate::module::Module;
use crate::role::Role;
use misdeal_results::Level;
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "fixed-size-accounted-as-poisson",
    finds: "batches of a fixed size, drawn at every step, where Poisson sampling is accounted for",
    why: "subsets of a fixed size have another privacy loss than Poisson samples, and a larger one where a record is replaced by another",
    fix: "draw every record by its own coin flip, or account for fixed sizes (misdeal account --scheme without-replacement)",
    reach: Reach::PrivateModules,
    level: Level::Warning,
    check,
};

/// Largest number of draws and accountants that are compared.
const MOST: usize = 50;

fn check(module: &Module, found: &mut Found) {
    let mut accounting = None;
    for call in module
        .facts
        .calls
        .iter()
        .filter(|call| draws_subset(module, call) && is_batch(module, call))
        .take(MOST)
    {
        let accounting: &Vec<&Call> =
            accounting.get_or_insert_with(|| poisson_accounting(module).take(MOST).collect());
        let is_evaluation = Role::of_targets(&call.place) == Role::Evaluation
            || Role::around(&call.place) == Role::Evaluation;
        let is_accounted = accounting.iter().any(|known| module.graph().relates(&known.place, &call.place));
        if is_accounted && !is_evaluation && !module.poisson().is_near(&call.place) {
            found.add(call.expression.func.range(), "a batch of a fixed size is drawn");
            return;
        }
    }
}

/// Whether a call draws several of the records' indices.
fn draws_subset(module: &Module, call: &Call) -> bool {
    let given = call.arguments.positional.len() + call.arguments.keywords.len();
    match call.last_name() {
        Some("choice") => given >= 2,
        Some("sample") => call.name() == Some("random.sample"),
        Some("randint" | "integers") => given >= 2 && names_indices(&call.place),
        Some("randperm" | "permutation") => {
            is_truncated(&module.source.text[call.expression.range().end().to_usize()..])
        }
        _ => false,
    }
}

/// Whether what is drawn is a batch: its name says so, and it is drawn in a loop that learns or in a function of batches.
fn is_batch(module: &Module, call: &Call) -> bool {
    let learns = call.place.around.loops.iter().any(|repeat| {
        matches!(repeat, Loop::For(repeat) if module.trainings().learns_in(repeat) || module.trainings().steps_in(repeat.range()))
    });
    names_indices(&call.place) && learns
}
