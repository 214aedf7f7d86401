//! Training on the loader that was passed to Opacus's `make_private` (or `make_private_with_epsilon`), not on the returned one.
//!
//! Training is found in `for` loops, also through `enumerate`, `tqdm` or `zip`, in `BatchMemoryManager`, and in functions of the
//! module.
//!
//! # Example
//! ```python
//! model, optimizer, _ = engine.make_private(
//!     module=model, optimizer=optimizer, data_loader=train_loader, noise_multiplier=1.0, max_grad_norm=1.0
//! )
//! for x, y in train_loader:
//!     loss(model(x), y).backward()
//!     optimizer.step()
//! ```
//!
//! The rule reports if the returned optimizer makes steps on batches of the passed loader. It does not report in these cases: the
//! returned loader is read anywhere (apart from its length); the passed loader may have been replaced or already uses Poisson
//! sampling; `poisson_sampling` is given and not `True`.

use super::trainings::Training;
use super::{Found, Reach, Rule};
use crate::flow::{Call, Callee, History, Origin, Value};
use crate::libraries::{is_hint, is_make_private};
use crate::module::Module;
use crate::role::Role;
use misdeal_results::Level;
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};
use std::collections::{HashMap, HashSet};

pub const RULE: Rule = Rule {
    name: "poisson-loader-unused",
    finds: "training on the loader that was given to Opacus, and not on the one that it returned",
    why: "only the loader that is returned samples by Poisson, which is what the accountant counts, so the epsilon that is reported is not the model's",
    fix: "train on the loader that is returned: model, optimizer, train_loader = engine.make_private(...)",
    reach: Reach::Everywhere,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    let facts = &module.facts;
    if !facts.calls.iter().any(|call| call.method().is_some_and(is_make_private)) {
        return;
    }
    let by_optimizer = by_optimizer(&module.trainings().all);
    let read = loaders_read(module);
    for call in &facts.calls {
        let Some((name, at)) = make_private(call) else { continue };
        let Some((_, given)) = call.arguments.named("data_loader") else { continue };
        if !samples_by_poisson(call) || given.histories().iter().any(|loader| is_poisson(loader)) {
            continue;
        }
        if Role::around(&call.place) == Role::Evaluation || read.contains(&at) {
            continue;
        }
        let place = module.source.place(at.start().to_usize());
        let trained = by_optimizer.get(&at).into_iter().flatten();
        for training in trained.filter(|training| is_same_loader(training, given, call)) {
            found.add(training.range, format!("the loader that was given to {name} on {place} trains"));
        }
    }
}

/// The method's name and its position, if the call is `make_private` or similar.
fn make_private<'a>(call: &Call<'a>) -> Option<(&'a str, TextRange)> {
    let (Callee::Method(_, name), Expr::Attribute(attribute)) = (&call.callee, &*call.expression.func) else {
        return None;
    };
    is_make_private(name).then(|| (*name, attribute.attr.range()))
}

/// Whether the returned loader is known to use Poisson sampling.
fn samples_by_poisson(call: &Call) -> bool {
    match call.arguments.named("poisson_sampling") {
        Some((_, value)) => value.as_bool() == Some(true),
        None => !call.arguments.open,
    }
}

/// Whether a loader may use Poisson sampling before it is passed to an engine.
fn is_poisson(loader: &History) -> bool {
    let Origin::Constructed(name, _, arguments) = loader.origin() else { return false };
    name.split('.').any(is_hint) || arguments.named("batch_sampler").is_some()
}

/// Groups trainings by the call that made their optimizer.
fn by_optimizer<'t, 'a>(trainings: &'t [Training<'a>]) -> HashMap<TextRange, Vec<&'t Training<'a>>> {
    let mut by_optimizer: HashMap<TextRange, Vec<&'t Training<'a>>> = HashMap::new();
    for training in trainings {
        let histories = training.optimizers.iter().flat_map(Value::histories);
        let results = histories.filter_map(|history| history.result());
        let calls: HashSet<TextRange> =
            results.filter(|(_, part)| *part == Some("1")).map(|(call, _)| call.range).collect();
        for call in calls {
            by_optimizer.entry(call).or_default().push(training);
        }
    }
    by_optimizer
}

/// Whether a training uses the passed loader: the same value, or the same unknown name in the same function.
fn is_same_loader(training: &Training, given: &Value, call: &Call) -> bool {
    if training.batches.is(given) {
        return true;
    }
    let is_same_name = match (training.batches.origin(), given.origin()) {
        (Some(Origin::Variable(one)), Some(Origin::Variable(other)))
        | (Some(Origin::Imported(one)), Some(Origin::Imported(other))) => one == other,
        _ => false,
    };
    let [here, there] = [&training.place.around, &call.place.around];
    is_same_name && here.functions == there.functions && here.classes == there.classes
}

/// The calls whose returned loader is used for more than its length.
fn loaders_read(module: &Module) -> HashSet<TextRange> {
    let facts = &module.facts;
    let mut calls = HashSet::new();
    for (range, value) in &facts.private_reads {
        if module.lookups.is_measured(facts, *range) {
            continue;
        }
        let results = value.histories().iter().filter_map(|history| history.result());
        let of_loader = results.filter(|(_, part)| !matches!(part, Some("0" | "1")));
        calls.extend(of_loader.map(|(call, _)| call.range));
    }
    calls
}
