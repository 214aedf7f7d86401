//! A `DistributedSampler` in a module with a loop over epochs that never calls `set_epoch`.
//!
//! # Example
//! ```python
//! sampler = DistributedSampler(train_data)
//! loader = DataLoader(train_data, sampler=sampler)
//! for epoch in range(epochs):
//!     for batch in loader:
//!         step(batch)
//! ```
//!
//! The rule reports in every module, except if it imports a trainer that sets the epoch itself.

use super::{Found, Reach, Rule, epochs};
use crate::module::Module;
use crate::role::Role;
use misdeal_results::Level;
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "sampler-without-set-epoch",
    finds: "a DistributedSampler whose epoch is never set",
    why: "its order depends on the epoch that it is told, so every epoch has the same batches, which no accountant expects",
    fix: "call sampler.set_epoch(epoch) at the start of every epoch",
    reach: Reach::Everywhere,
    level: Level::Warning,
    check,
};

const TRAINERS: [&str; 8] = [
    "accelerate",
    "catalyst",
    "composer",
    "ignite",
    "lightning",
    "lightning_fabric",
    "pytorch_lightning",
    "transformers.Trainer",
];

fn check(module: &Module, found: &mut Found) {
    let facts = &module.facts;
    let has_trainer = TRAINERS.iter().any(|package| facts.imports.uses(package));
    let sets_epoch = facts.calls.iter().any(|call| call.last_name() == Some("set_epoch"));
    let has_epochs = facts
        .loops
        .iter()
        .any(|(repeat, _, place)| epochs::is_epoch_loop(repeat) && Role::around(place) != Role::Evaluation);
    if has_trainer || sets_epoch || !has_epochs {
        return;
    }
    for call in &facts.calls {
        let is_sampler = call.name().is_some_and(|name| {
            name.starts_with("torch.utils.data.") && name.ends_with(".DistributedSampler")
        });
        let shuffle = call.arguments.get("shuffle", 3);
        let shuffles = shuffle.is_none_or(|(_, value)| value.as_bool() == Some(true)) && !call.arguments.open;
        if is_sampler && shuffles && super::data_loader::role(call) != Role::Evaluation {
            found.add(call.expression.func.range(), "set_epoch is never called on this sampler");
        }
    }
}
