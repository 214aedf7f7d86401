//! A `WeightedRandomSampler` in private training.
//!
//! # Example
//! ```python
//! import opacus
//! sampler = WeightedRandomSampler(weights, len(weights))
//! ```
//!
//! The rule reports in private modules, unless something hints at Poisson sampling (`make_private` replaces the sampler).

use super::{Found, Reach, Rule, data_loader};
use crate::module::Module;
use crate::role::Role;
use misdeal_results::Level;
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "weighted-sampler",
    finds: "a WeightedRandomSampler in private training",
    why: "records of large weight are drawn more often than the rate that the accountant is told",
    fix: "sample uniformly by Poisson and weight the loss, or account with the largest record's rate",
    reach: Reach::PrivateModules,
    level: Level::Warning,
    check,
};

fn check(module: &Module, found: &mut Found) {
    for call in &module.facts.calls {
        let is_sampler = call.name().is_some_and(|name| {
            name.starts_with("torch.utils.data.") && name.ends_with(".WeightedRandomSampler")
        });
        if is_sampler && data_loader::role(call) != Role::Evaluation && !module.poisson().is_near(&call.place)
        {
            found.add(call.expression.func.range(), "records are drawn by weight");
        }
    }
}
