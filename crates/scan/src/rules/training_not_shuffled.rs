//! A PyTorch `DataLoader` for training that does not shuffle: `shuffle=False`, or neither `shuffle` nor a sampler.
//!
//! # Example
//! ```python
//! from opacus.accountants import RDPAccountant
//! train_loader = DataLoader(train_data, batch_size=64)
//! for batch in train_loader:
//!     loss(model, batch).backward()
//!     private_optimizer.step()
//! ```
//!
//! The rule reports in private modules, if a private optimizer learns from the loader, or if Opacus gets it with
//! `poisson_sampling=False`. It does not report where Poisson sampling is near, or where noise is correlated between steps (matrix
//! factorization, DP-FTRL), which needs a fixed order.

use super::data_loader::{has_sampler, loaders, role, shuffles};
use super::sampling::is_full_batch;
use super::trainings::Fate;
use super::{Found, Reach, Rule};
use crate::flow::{Call, Origin};
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
    if keeps_order_on_purpose(module) {
        return;
    }
    for loader in loaders(module) {
        let is_plain = shuffles(loader) == Some(false) && !has_sampler(loader) && !is_full_batch(loader);
        if !is_plain || is_iterable(module, loader) || role(loader) == Role::Evaluation {
            continue;
        }
        let poisson = module.poisson();
        let is_replaced = poisson.replaces(loader) || poisson.is_near(&loader.place);
        let is_private = match module.trainings().fate(loader) {
            Fate::Private => true,
            Fate::Learned | Fate::Unknown => module.is_assumed && role(loader) == Role::Training,
            Fate::Read => false,
        };
        if !is_replaced && (is_private || module.poisson().keeps(loader)) {
            let what = match loader.arguments.get("shuffle", 2) {
                Some(_) => "a training loader has shuffle=False",
                None => "a training loader does not shuffle by default",
            };
            found.add(loader.expression.func.range(), what);
        }
    }
}

/// Whether the module adds noise that is correlated between steps, which needs a fixed order.
pub fn keeps_order_on_purpose(module: &Module) -> bool {
    let is_correlated = |name: &str| {
        let name = name.to_ascii_lowercase();
        [
            "matrix_factorization",
            "ftrl",
            "toeplitz",
            "banded",
            "tree_aggregation",
            "treeaggregat",
            "cummunoise",
        ]
        .iter()
        .any(|part| name.contains(part))
    };
    module.facts.imports.modules().any(is_correlated)
        || module.facts.calls.iter().any(|call| call.last_name().is_some_and(is_correlated))
}

/// Whether the data set may be a stream, which a loader cannot shuffle.
fn is_iterable(module: &Module, loader: &Call) -> bool {
    let Some((_, data)) = loader.arguments.get("dataset", 0) else { return true };
    let Some(Origin::Constructed(name, ..)) = data.origin() else { return false };
    let class = module.lookups.class(&module.facts, name);
    name.contains("Iterable") || class.is_some_and(super::unsharded_workers::is_iterable)
}
