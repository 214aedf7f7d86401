//! What samples by Poisson, what is given to a private engine, and which loaders a model learns from.

use super::accounting::is_without_noise;
use super::data_loader::{self, loaders, role, shuffles};
use super::trainings::{Fate, Training, last_part, wrapped};
use crate::calls::owners;
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
    /// The functions that sample by Poisson, that are called by them, and that call them.
    near: HashSet<&'a str>,
    /// Loaders that a private engine keeps as they are (`poisson_sampling=False`): where they were made.
    kept: HashSet<*const ExprCall>,
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
            let is_neighbour = || call.name().is_some_and(|name| module.neighbours.poisson.contains(name));
            let samples = if is_make_private(name) {
                is_poisson_engine(call)
            } else {
                is_sampler(call, name) || is_neighbour()
            };
            if samples {
                poisson.places.push(Rc::clone(&call.place));
            }
            if is_make_private(name) && is_poisson_engine(call) {
                poisson.replace(module, call);
            } else if is_make_private(name) && !is_without_noise(call) {
                let given = call.arguments.named("data_loader").map(|(_, value)| value.histories());
                poisson.kept.extend(given.into_iter().flatten().filter_map(
                    |history| match history.origin() {
                        Origin::Constructed(_, expression, _) => Some(std::ptr::from_ref(*expression)),
                        _ => None,
                    },
                ));
            }
        }
        let places = poisson.places.iter().map(|place| &**place);
        poisson.near = module.graph().near(places);
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
                        self.names.insert(Rc::from(last_part(name)));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Whether something samples by Poisson in a function that calls, or is called by, that of a place.
    pub fn is_near(&self, place: &Place<'a>) -> bool {
        owners(place).any(|name| self.near.contains(name))
    }

    /// Whether a function always samples by Poisson itself.
    pub fn samples_in(&self, function: &str) -> bool {
        let mut own = self.places.iter().filter(|place| place.around.functions.contains(&function));
        own.any(|place| place.around.conditions.is_empty())
    }

    /// Whether a private engine replaces a loader.
    pub fn replaces(&self, loader: &Call<'a>) -> bool {
        self.replaced.contains(&std::ptr::from_ref(loader.expression))
            || loader.place.targets.iter().any(|name| self.names.contains(*name))
    }

    /// Whether a private engine gets a loader and is told to keep its batches.
    pub fn keeps(&self, loader: &Call<'a>) -> bool {
        self.kept.contains(&std::ptr::from_ref(loader.expression))
    }
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

/// The loaders of a module that shuffle records for training, which no private engine replaces.
pub fn shuffled_loaders<'m, 'a>(module: &'m Module<'a>) -> impl Iterator<Item = &'m Call<'a>> {
    loaders(module).filter(move |loader| {
        let shuffles = shuffles(loader) == Some(true) || data_loader::samples_randomly(loader);
        shuffles
            && role(loader) != Role::Evaluation
            && !is_full_batch(loader)
            && !module.poisson().replaces(loader)
            && match module.trainings().fate(loader) {
                Fate::Private => true,
                // A function may return it to another module, so only a module that trains is accused.
                Fate::Unknown => {
                    let trainings = module.trainings();
                    loader.place.around.functions.is_empty()
                        || trainings.is_given(loader)
                        || trainings.reads_unknown
                }
                Fate::Learned => !module.trainings().has_private,
                Fate::Read => false,
            }
    })
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

/// The trainings of a module on shuffled loaders that another file makes.
pub fn trainings_on_others<'m, 'a>(module: &'m Module<'a>) -> impl Iterator<Item = &'m Training<'a>> {
    let trainings = module.trainings();
    let is_shuffled = |history: &History| {
        matches!(history.origin(), Origin::Constructed(name, expression, arguments)
            if data_loader::is_data_loader(name)
                && arguments.get("shuffle", 2).and_then(|(_, value)| value.as_bool()) == Some(true)
                && !history.backwards().any(|step| is_make_private(step.name))
                && !module.poisson().replaced.contains(&std::ptr::from_ref(*expression)))
    };
    let own: HashSet<*const ExprCall> =
        loaders(module).map(|loader| std::ptr::from_ref(loader.expression)).collect();
    let is_other = move |history: &History| matches!(history.origin(), Origin::Constructed(_, expression, _) if !own.contains(&std::ptr::from_ref(*expression)));
    let has_neighbours = !module.neighbours.functions.is_empty();
    let candidates = trainings.all.iter().filter(move |_| has_neighbours);
    candidates.filter(move |training| {
        training.batches.histories().iter().any(|history| is_other(history) && is_shuffled(history))
            && (!trainings.has_private || trainings.is_private(training))
    })
}
