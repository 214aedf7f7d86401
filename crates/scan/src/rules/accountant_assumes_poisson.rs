//! Accounting for Poisson sampling in a module that trains on a shuffled PyTorch `DataLoader`.
//!
//! Such accounting is `accountant.step(noise_multiplier=.., sample_rate=..)`, `compute_rdp`, `get_noise_multiplier` or
//! `PoissonSampledDpEvent`. Engines that do not change the loader (fastDP, private-transformers) count too.
//!
//! # Example
//! ```python
//! from opacus.accountants import RDPAccountant
//! loader = DataLoader(train_data, batch_size=64, shuffle=True)
//! accountant = RDPAccountant()
//! for batch in loader:
//!     accountant.step(noise_multiplier=1.0, sample_rate=64 / len(train_data))
//! ```
//!
//! The rule reports in private modules, if a model learns from the loader, or if the loader leaves a module that trains. Poisson
//! sampling silences it in functions that call each other. It reports only the first such call.

use super::accounting::poisson_accounting;
use super::sampling::{shuffled_loaders, trainings_on_others};
use super::{Found, Reach, Rule};
use crate::flow::Call;
use crate::module::Module;
use crate::role::Role;
use misdeal_results::Level;
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "accountant-assumes-poisson",
    finds: "accounting for Poisson sampling beside a DataLoader that shuffles",
    why: "shuffled batches can leak several times the epsilon that Poisson sampling would give, so the number is not the model's",
    fix: "draw batches by Poisson sampling (Opacus's DPDataLoader or make_private), or account for shuffling (misdeal account --scheme shuffle)",
    reach: Reach::PrivateModules,
    level: Level::Error,
    check,
};

/// Largest number of accountants and loaders that are compared.
const MOST: usize = 50;

fn check(module: &Module, found: &mut Found) {
    let mut loaders = None;
    for call in poisson_accounting(module).take(MOST) {
        let loaders: &Vec<&Call> =
            loaders.get_or_insert_with(|| shuffled_loaders(module).take(MOST).collect());
        let poisson = module.poisson();
        if poisson.is_near(&call.place) || Role::around(&call.place) == Role::Evaluation {
            continue;
        }
        let loader = loaders.iter().find(|loader| {
            !poisson.is_near(&loader.place) && module.graph().relates(&loader.place, &call.place)
        });
        let of_others = || {
            let mut trainings = trainings_on_others(module).take(MOST);
            trainings.find(|training| module.graph().relates(&training.place, &call.place))
        };
        let range = loader.map(|loader| loader.expression.range()).or_else(|| Some(of_others()?.range));
        let Some(range) = range else { continue };
        let place = module.source.place(range.start().to_usize());
        let what = format!("Poisson sampling is accounted for, but the DataLoader of {place} shuffles");
        found.add(call.expression.func.range(), what);
        return;
    }
}
