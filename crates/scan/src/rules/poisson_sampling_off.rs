//! Opacus with Poisson sampling switched off: `make_private(.., poisson_sampling=False)` or `make_private_with_epsilon`.
//!
//! # Example
//! ```python
//! model, optimizer, loader = engine.make_private(
//!     module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.0, max_grad_norm=1.0,
//!     poisson_sampling=False,
//! )
//! ```
//!
//! The rule reports every such call, except in functions for tests or evaluation.

use super::accounting::is_without_noise;
use super::{Found, Reach, Rule};
use crate::libraries::is_make_private;
use crate::module::Module;
use crate::role::Role;
use misdeal_results::Level;
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "poisson-sampling-off",
    finds: "Opacus told not to sample by Poisson",
    why: "the accountant goes on as if batches were drawn by Poisson sampling, so the epsilon that is reported is not the model's",
    fix: "leave poisson_sampling out, or state an epsilon for the batches that are used (misdeal account --scheme shuffle)",
    reach: Reach::Everywhere,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    for call in &module.facts.calls {
        if !call.last_name().is_some_and(is_make_private) {
            continue;
        }
        if let Some((expression, value)) = call.arguments.named("poisson_sampling")
            && value.as_bool() == Some(false)
            && !is_without_noise(call)
            && Role::around(&call.place) != Role::Evaluation
        {
            let edits = vec![(expression.range(), "True".to_owned())];
            found.add_certain(expression.range(), "poisson_sampling is False", edits);
        }
    }
}
