//! # What it finds
//! A `DistributedSampler` in a module with a loop over epochs that never calls `set_epoch`.
//!
//! # Why it matters
//! The sampler's seed is the epoch's number, which stays 0: every epoch has the same batches, while an accountant composes epochs as if each were
//! drawn anew.
//!
//! # How to fix
//! Call `sampler.set_epoch(epoch)` at the start of every epoch.
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
//! It speaks in every module, except where a trainer that sets the epoch by itself is imported.

use super::{Found, Page, Reach, Rule, epochs};
use crate::module::Module;
use crate::role::Role;
use misdeal_results::Level;
use ruff_text_size::Ranged;

/// The rule.
pub struct SamplerWithoutSetEpoch;

const PAGE: Page = Page {
    name: "sampler-without-set-epoch",
    finds: "a DistributedSampler whose epoch is never set",
    why: "its order depends on the epoch that it is told, so every epoch has the same batches, which no accountant expects",
    fix: "call sampler.set_epoch(epoch) at the start of every epoch",
    reach: Reach::Everywhere,
    level: Level::Warning,
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

impl Rule for SamplerWithoutSetEpoch {
    fn page(&self) -> &'static Page {
        &PAGE
    }

    fn check(&self, module: &Module, found: &mut Found) {
        let facts = &module.facts;
        let has_trainer = TRAINERS.iter().any(|package| facts.imports.uses(package));
        let sets_epoch = facts.calls.iter().any(|call| call.last_name() == Some("set_epoch"));
        let has_epochs = facts.loops.iter().any(|(repeat, _, place)| {
            epochs::is_epoch_loop(repeat) && Role::around(place) != Role::Evaluation
        });
        if has_trainer || sets_epoch || !has_epochs {
            return;
        }
        for call in &facts.calls {
            let is_sampler = call.name().is_some_and(|name| {
                name.starts_with("torch.utils.data.") && name.ends_with(".DistributedSampler")
            });
            let shuffle = call.arguments.get("shuffle", 3);
            let shuffles =
                shuffle.is_none_or(|(_, value)| value.as_bool() == Some(true)) && !call.arguments.open;
            if is_sampler && shuffles && super::data_loader::role(call) != Role::Evaluation {
                found.add(call.expression.func.range(), "set_epoch is never called on this sampler");
            }
        }
    }
}
