//! A random generator that gets the same seed in every epoch.
//!
//! # Example
//! ```python
//! import opacus
//! for epoch in range(epochs):
//!     torch.manual_seed(0)
//!     for batch in loader:
//!         step(batch)
//! ```
//!
//! The rule reports in private modules, if the seed is a literal or a variable whose name contains `seed`.

use super::{Found, Reach, Rule, epochs};
use crate::flow::Call;
use crate::module::Module;
use crate::role::{Role, words};
use misdeal_results::Level;
use ruff_python_ast::{Expr, Stmt, StmtFor};
use ruff_text_size::{Ranged, TextSize};
use std::collections::{HashMap, HashSet};

pub const RULE: Rule = Rule {
    name: "reseeded-every-epoch",
    finds: "a generator that is given the same seed in every epoch",
    why: "every epoch draws the same batches, and perhaps the same noise, which then cancels between epochs",
    fix: "seed once before the loop over epochs, and do not seed the generator of the noise in training that is released",
    reach: Reach::PrivateModules,
    level: Level::Error,
    check,
};

const SEEDERS: [&str; 9] = [
    "jax.random.PRNGKey",
    "jax.random.key",
    "numpy.random.default_rng",
    "numpy.random.seed",
    "random.seed",
    "tensorflow.random.set_seed",
    "torch.cuda.manual_seed",
    "torch.cuda.manual_seed_all",
    "torch.manual_seed",
];

fn check(module: &Module, found: &mut Found) {
    let mut assigned = Assigned::new();
    for call in &module.facts.calls {
        let is_seeder =
            call.name().is_some_and(|name| SEEDERS.contains(&name)) || (call.method() == Some("manual_seed"));
        let is_training = Role::around(&call.place) != Role::Evaluation;
        if is_seeder
            && is_training
            && epochs::around(&call.place).is_some_and(|repeat| trains(module, repeat))
            && has_same_seed(call, &mut assigned)
        {
            found.add(call.expression.func.range(), "the same seed is set in every epoch");
        }
    }
}

/// Whether a loop over epochs trains, by a step or by an inner loop. A loop over checkpoints does not.
fn trains(module: &Module, repeat: &StmtFor) -> bool {
    module.trainings().learns_in(repeat) || module.trainings().is_outer(repeat)
}

/// Whether the seed is a literal or a variable whose name contains `seed`. It is then the same in all epochs.
fn has_same_seed<'a>(call: &Call<'a>, assigned: &mut Assigned<'a>) -> bool {
    let Some((expression, value)) = call.arguments.get("seed", 0) else { return false };
    let is_seed = |name: &str| words(name).iter().any(|word| word == "seed");
    match expression {
        Expr::NumberLiteral(_) => true,
        Expr::Name(name) => value.as_int().is_some() || is_outside(call, name.id.as_str(), is_seed, assigned),
        Expr::Attribute(attribute) => is_seed(attribute.attr.as_str()),
        _ => false,
    }
}

/// Whether a variable is a seed that the loop does not assign.
fn is_outside<'a>(
    call: &Call<'a>,
    name: &str,
    is_seed: impl Fn(&str) -> bool,
    assigned: &mut Assigned<'a>,
) -> bool {
    let Some(repeat) = epochs::around(&call.place) else { return false };
    let own = assigned.entry(repeat.range().start()).or_insert_with(|| names_assigned(repeat));
    is_seed(name) && !own.contains(name)
}

/// The variables that each loop assigns, by the loop's start.
type Assigned<'a> = HashMap<TextSize, HashSet<&'a str>>;

fn names_assigned(repeat: &StmtFor) -> HashSet<&str> {
    let in_body = repeat.body.iter().flat_map(|statement| match statement {
        Stmt::Assign(assign) => assign.targets.as_slice(),
        Stmt::AugAssign(assign) => std::slice::from_ref(&*assign.target),
        _ => &[],
    });
    let targets = in_body.chain(std::iter::once(&*repeat.target));
    targets.filter_map(|target| target.as_name_expr().map(|name| name.id.as_str())).collect()
}
