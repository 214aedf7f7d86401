//! What samples by Poisson, what is given to a private engine, and which loaders a model learns from.

use super::data_loader::{self, loaders, role, shuffles};
use super::trainings::{Training, learns, wrapped};
use crate::flow::{Call, History, Origin, Place, Value};
use crate::libraries::{is_hint, is_make_private};
use crate::module::Module;
use crate::role::{Role, words};
use ruff_python_ast::{Expr, ExprCall};
use std::collections::HashSet;
use std::rc::Rc;

/// The places of a module that sample by Poisson.
#[derive(Debug, Default)]
pub struct Poisson<'a> {
    places: Vec<Rc<Place<'a>>>,
    /// Loaders that a private engine replaces by Poisson sampling: where they were made.
    replaced: HashSet<*const ExprCall>,
    /// Names of loaders that a private engine replaces.
    names: HashSet<Rc<str>>,
}

impl<'a> Poisson<'a> {
    /// Finds Poisson sampling in a module.
    pub fn of(module: &Module<'a>) -> Self {
        let mut poisson = Poisson { places: module.facts.coin_flips.clone(), ..Poisson::default() };
        for call in &module.facts.calls {
            let name = call.last_name().unwrap_or("");
            let samples =
                if is_make_private(name) { is_poisson_engine(call) } else { is_sampler(call, name) };
            if samples {
                poisson.places.push(Rc::clone(&call.place));
            }
            if is_make_private(name) && is_poisson_engine(call) {
                poisson.replace(module, call);
            }
        }
        poisson
    }

    /// Notes the loader that a private engine replaces.
    fn replace(&mut self, module: &Module<'a>, call: &Call<'a>) {
        let Some((_, given)) = call.arguments.get("data_loader", 2) else { return };
        let mut given = vec![given.clone()];
        // The loader may be a parameter, so the arguments of the calls count too.
        if let (Some(Origin::Variable(name)), Some(function)) =
            (given[0].origin(), call.place.around.functions.last())
            && let Some(definition) = module.lookups.only_function(&module.facts, function)
            && let Some(at) = definition.parameters.iter().position(|known| known.name().as_str() == &**name)
        {
            let of_function = module.facts.calls.iter().filter(|call| call.last_name() == Some(*function));
            let takes_self = definition.parameters.iter().next().is_some_and(|first| first.name() == "self");
            let at = at.saturating_sub(usize::from(takes_self));
            let values: Vec<Value<'a>> =
                of_function.filter_map(|call| Some(call.arguments.get(name, at)?.1.clone())).collect();
            given.extend(values);
        }
        for value in given.iter().flat_map(wrapped) {
            for history in value.histories() {
                match history.origin() {
                    Origin::Constructed(_, expression, _) => {
                        self.replaced.insert(std::ptr::from_ref(*expression));
                    }
                    Origin::Variable(name) => {
                        self.names.insert(Rc::clone(name));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Whether something samples by Poisson in a function that calls, or is called by, that of a place.
    pub fn is_near(&self, module: &Module<'a>, place: &Place<'a>) -> bool {
        self.places.iter().any(|known| module.graph().connects(known, place))
    }

    /// Whether a private engine replaces a loader.
    pub fn replaces(&self, loader: &Call<'a>) -> bool {
        self.replaced.contains(&std::ptr::from_ref(loader.expression))
            || loader
                .place
                .targets
                .iter()
                .any(|name| self.names.iter().any(|known| last_part(known) == *name))
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Whether a private engine samples by Poisson. One without noise makes nothing private.
fn is_poisson_engine(call: &Call) -> bool {
    let given = call.arguments.named("poisson_sampling").and_then(|(_, value)| value.as_bool());
    given != Some(false)
}

/// Whether a call samples by Poisson, by its name or by a keyword.
fn is_sampler(call: &Call, name: &str) -> bool {
    is_hint(name)
        // A constructor of the class: `DPDataLoader.from_data_loader(..)`.
        || call.name().is_some_and(|name| name.rsplit('.').nth(1).is_some_and(is_hint) && !name.contains("account"))
        || call.arguments.keywords.iter().any(|(name, _, value)| {
            (is_hint(name) && value.as_bool() != Some(false)) || value.as_text().is_some_and(is_hint)
        })
}

/// What happens to the batches of a loader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// A private optimizer learns from them.
    Private,
    /// A model learns from them, without noise as far as the source shows.
    Learned,
    /// They are read, and nothing learns from them.
    Read,
    /// They leave the module or the function.
    Unknown,
}

/// What happens to the batches of a loader.
pub fn fate<'a>(module: &Module<'a>, loader: &Call<'a>) -> Fate {
    let trainings = module.trainings();
    let is_it =
        |value: &Value<'a>| value.histories().iter().any(|history| is_made_by(history, loader.expression));
    let is_named = |training: &Training<'a>| {
        matches!(training.batches.origin(), Some(Origin::Variable(name))
            if loader.place.targets.contains(&last_part(name)))
    };
    let mut fate = Fate::Unknown;
    for training in trainings.all.iter().filter(|training| is_it(&training.batches) || is_named(training)) {
        if trainings.is_private(training) {
            return Fate::Private;
        }
        fate = Fate::Learned;
    }
    let is_read = || {
        let mut loops = module.facts.loops.iter().flat_map(|(_, value, _)| wrapped(value));
        loops.any(|value| is_it(&value))
    };
    if fate == Fate::Unknown && is_read() { Fate::Read } else { fate }
}

/// Whether a value was made by a call, and not replaced since.
fn is_made_by(history: &History, call: &ExprCall) -> bool {
    let is_origin =
        matches!(history.origin(), Origin::Constructed(_, expression, _) if std::ptr::eq(*expression, call));
    is_origin && !history.backwards().any(|step| is_make_private(step.name))
}

/// Whether a module's model learns privately from batches that are not this loader's.
pub fn others_are_private(module: &Module) -> bool {
    let trainings = module.trainings();
    trainings.all.iter().any(|training| trainings.is_private(training))
}

/// The loaders of a module that shuffle records for training, which no private engine replaces.
pub fn shuffled_loaders<'m, 'a>(module: &'m Module<'a>) -> impl Iterator<Item = &'m Call<'a>> {
    loaders(module).filter(move |loader| {
        let shuffles = shuffles(loader) == Some(true) || data_loader::samples_randomly(loader);
        shuffles
            && role(loader) != Role::Evaluation
            && !is_full_batch(loader)
            && !module.poisson().replaces(loader)
            && match fate(module, loader) {
                Fate::Private => true,
                // A function may return it to another module, so only a module that trains is accused.
                Fate::Unknown => {
                    loader.place.around.functions.is_empty() || is_given_to_training(module, loader)
                }
                Fate::Learned => !others_are_private(module),
                Fate::Read => false,
            }
    })
}

/// A value, and the arguments of the unknown calls that made it.
fn inside<'a>(value: &Value<'a>, depth: usize) -> Vec<Value<'a>> {
    let mut values = vec![value.clone()];
    for history in value.histories().iter().filter(|_| depth > 0) {
        if let Origin::Constructed(_, _, arguments) = history.origin() {
            values.extend(arguments.all().take(4).flat_map(|(_, value)| inside(value, depth - 1)));
        }
    }
    values
}

/// Whether a function that trains elsewhere gets a loader, or a private training of the module reads unknown batches.
fn is_given_to_training<'a>(module: &Module<'a>, loader: &Call<'a>) -> bool {
    let trainings = module.trainings();
    let is_it = |value: &Value<'a>| {
        inside(value, 2).iter().any(|value| {
            value.histories().iter().any(|history| is_made_by(history, loader.expression))
                || matches!(value.origin(), Some(Origin::Variable(name)) if loader.place.targets.contains(&last_part(name)))
        })
    };
    let is_unknown = |training: &Training<'a>| {
        trainings.is_private(training) && !matches!(training.batches.origin(), Some(Origin::Constructed(..)))
    };
    module.facts.calls.iter().any(|call| learns(call) && call.arguments.all().any(|(_, value)| is_it(value)))
        || trainings.all.iter().any(is_unknown)
}

/// Whether a loader's batch is the whole data set, or a single record.
pub fn is_full_batch(loader: &Call) -> bool {
    let Some((expression, _)) = loader.arguments.get("batch_size", 1) else { return false };
    match expression {
        Expr::Call(call) => {
            matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "len")
        }
        _ => false,
    }
}

/// Whether names in a call speak of whole users or clients, whose records are sampled together.
pub fn is_of_users(call: &Call, source: &str) -> bool {
    const USERS: [&str; 7] = ["client", "clients", "participants", "participation", "silo", "user", "users"];
    words(source).iter().any(|word| USERS.contains(&word.as_str()))
        && !call.arguments.keywords.iter().any(|(name, ..)| *name == "sample_size")
}
