//! A PyTorch `DataLoader` for training that does not shuffle: `shuffle=False`, or neither `shuffle` nor a sampler.
//!
//! # Example
//! ```python
//! from opacus.accountants import RDPAccountant
//! train_loader = DataLoader(train_data, batch_size=64)
//! ```
//!
//! The rule reports in private modules, if a name shows that the loader is for training and nothing in the module hints at Poisson
//! sampling.

use super::data_loader::{has_sampler, loaders, role, shuffles};
use super::{Found, Reach, Rule};
use crate::flow::Origin;
use crate::libraries::samples_by_poisson;
use crate::module::Module;
use crate::role::Role;
use misdeal_results::Level;
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "training-not-shuffled",
    finds: "a DataLoader for private training that keeps the file's order",
    why: "the batches are the same in every epoch and known in advance, so there is no amplification by sampling",
    fix: "pass the loader through Opacus's make_private, which samples by Poisson, or give it a Poisson batch sampler",
    reach: Reach::PrivateModules,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    if samples_by_poisson(&module.facts) {
        return;
    }
    for loader in loaders(module) {
        let is_plain = shuffles(loader) == Some(false) && !has_sampler(loader);
        if is_plain && role(loader) == Role::Training && !is_iterable(module, loader) {
            let what = match loader.arguments.get("shuffle", 2) {
                Some(_) => "a training loader has shuffle=False",
                None => "a training loader does not shuffle by default",
            };
            found.add(loader.expression.func.range(), what);
        }
    }
}

/// Whether the data set may be a stream, which a loader cannot shuffle.
fn is_iterable(module: &Module, loader: &crate::flow::Call) -> bool {
    let Some((_, data)) = loader.arguments.get("dataset", 0) else { return true };
    let Some(Origin::Constructed(name, ..)) = data.origin() else { return false };
    let class = module.lookups.class(&module.facts, name);
    name.contains("Iterable") || class.is_some_and(super::unsharded_workers::is_iterable)
}
