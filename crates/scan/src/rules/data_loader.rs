//! Finds calls of PyTorch's `DataLoader`.

use crate::flow::{Call, Origin, Value};
use crate::module::Module;
use crate::role::Role;

/// The full names of the class `DataLoader`.
const NAMES: [&str; 2] = ["torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"];

/// Whether a full name is the class `DataLoader`.
pub fn is_data_loader(name: &str) -> bool {
    NAMES.contains(&name)
}

/// All loaders that a module creates.
pub fn loaders<'m, 'a>(module: &'m Module<'a>) -> impl Iterator<Item = &'m Call<'a>> {
    let has_star = module.facts.imports.has_star_of("torch.utils.data");
    let is_loader = move |call: &&Call| {
        call.name().is_some_and(|name| is_data_loader(name) || (has_star && name == "DataLoader"))
    };
    module.facts.calls.iter().filter(is_loader)
}

/// The role of a loader, from the variable, the data set, and the surrounding function.
pub fn role(loader: &Call) -> Role {
    let data = loader.arguments.get("dataset", 0);
    let roles = [
        Role::of_targets(&loader.place),
        data.map_or(Role::Unknown, |(expression, value)| Role::of_argument(expression, value)),
        Role::around(&loader.place),
    ];
    roles.into_iter().find(|role| *role != Role::Unknown).unwrap_or(Role::Unknown)
}

/// Whether a loader shuffles; `None` if the source does not say.
pub fn shuffles(loader: &Call) -> Option<bool> {
    match loader.arguments.get("shuffle", 2) {
        Some((_, value)) => value.as_bool(),
        None if loader.arguments.open => None,
        None => Some(false),
    }
}

/// Whether a loader gets a sampler, or may get one.
pub fn has_sampler(loader: &Call) -> bool {
    loader.arguments.open
        || loader.arguments.get("sampler", 3).is_some()
        || loader.arguments.get("batch_sampler", 4).is_some()
}

/// Whether a loader's sampler draws a random order of records.
pub fn samples_randomly(loader: &Call) -> bool {
    let Some((_, sampler)) = loader.arguments.get("sampler", 3) else { return false };
    sampler.histories().iter().any(|history| {
        matches!(history.origin(), Origin::Constructed(name, ..)
            if name.ends_with("RandomSampler") && !name.ends_with("WeightedRandomSampler"))
    })
}

/// The arguments of the loader, if the value is a loader.
pub fn of_value<'v, 'a>(value: &'v Value<'a>) -> Option<&'v crate::flow::Arguments<'a>> {
    match value.origin() {
        Some(Origin::Constructed(name, _, arguments)) if is_data_loader(name) => Some(arguments),
        _ => None,
    }
}
