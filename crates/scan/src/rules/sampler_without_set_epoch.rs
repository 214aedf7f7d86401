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
use crate::flow::{Call, History, Origin};
use crate::module::Module;
use crate::role::Role;
use misdeal_results::Level;
use ruff_python_ast::StmtFor;
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

/// Largest number of samplers that are followed.
const MOST: usize = 50;

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
    for call in facts.calls.iter().filter(|call| call.last_name() == Some("DistributedSampler")).take(MOST) {
        let is_sampler = call.name().is_some_and(|name| {
            name.starts_with("torch.utils.data.") && name.ends_with(".DistributedSampler")
        });
        let shuffle = call.arguments.get("shuffle", 3);
        let shuffles = shuffle.is_none_or(|(_, value)| value.as_bool() == Some(true)) && !call.arguments.open;
        if is_sampler
            && shuffles
            && is_iterated(module, call)
            && super::data_loader::role(call) != Role::Evaluation
        {
            found.add(call.expression.func.range(), "set_epoch is never called on this sampler");
        }
    }
}

/// Whether a loop over epochs of the module trains near the sampler, and no other function gets the sampler.
///
/// Otherwise another module may set the epoch.
fn is_iterated<'a>(module: &Module<'a>, sampler: &Call<'a>) -> bool {
    let is_it = |history: &History| matches!(history.origin(), Origin::Constructed(_, expression, _) if std::ptr::eq(*expression, sampler.expression));
    let facts = &module.facts;
    let is_given_away = facts.calls.iter().any(|call| {
        let keeps =
            call.last_name().is_some_and(|name| name.ends_with("DataLoader") || name.ends_with("Sampler"));
        !keeps
            && call.arguments.all().any(|(_, value)| value.histories().iter().any(|history| is_it(history)))
    });
    let mut epochs = facts.loops.iter().filter(|(repeat, ..)| epochs::is_epoch_loop(repeat));
    let trains_near = epochs.any(|(repeat, _, place)| {
        module.graph().relates(place, &sampler.place) && holds_training(module, repeat)
    });
    trains_near && !is_given_away && !module.poisson().replaces(sampler)
}

/// Whether a loop over epochs learns, or reads batches in an inner loop.
fn holds_training(module: &Module, repeat: &StmtFor) -> bool {
    let trainings = module.trainings();
    trainings.learns_in(repeat) || trainings.is_outer(repeat) || trainings.steps_in(repeat.range())
}
