//! Finds places where an optimizer learns from batches: loops, Opacus's memory manager, and functions that contain them.

use crate::flow::{Call, Callee, Facts, History, Loop, Origin, Place, Value};
use crate::libraries::is_make_private;
use crate::lookups::Lookups;
use crate::role::{Role, words};
use ruff_python_ast::StmtFunctionDef;
use ruff_text_size::{Ranged, TextRange};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Functions that iterate over a sequence without changing its order or batches.
const WRAPPERS: [&str; 8] = ["enumerate", "islice", "iter", "list", "tqdm", "tqdm_notebook", "track", "zip"];
/// Deepest nesting of function calls that is followed.
const DEEPEST: usize = 3;
/// Largest number of trainings in a module.
const MOST: usize = 100_000;

/// An optimizer that learns from a sequence of batches.
#[derive(Debug, Clone)]
pub struct Training<'a> {
    /// The sequence of batches.
    pub batches: Value<'a>,
    /// The place where the batches are named.
    pub range: TextRange,
    /// The optimizer.
    pub optimizer: Value<'a>,
    /// The statement that contains the training step.
    pub place: Rc<Place<'a>>,
}

/// All trainings with an optimizer from a private engine, except tests and evaluation.
pub fn private_trainings<'a>(facts: &Facts<'a>, lookups: &Lookups<'a>) -> Vec<Training<'a>> {
    let mut trainings = Vec::new();
    for call in &facts.calls {
        if Role::around(&call.place) != Role::Evaluation {
            in_loops(facts, lookups, call, &mut trainings);
            in_memory_manager(call, &mut trainings);
        }
    }
    let mut newest = trainings.clone();
    for _ in 0..DEEPEST {
        let given = given_to_functions(facts, lookups, &newest);
        newest = facts.calls.iter().flat_map(|call| in_function(call, &given)).take(MOST).collect();
        trainings.extend_from_slice(&newest);
    }
    trainings.retain(|training| training.optimizer.histories().iter().any(|history| is_private(history)));
    trainings
}

/// Finds steps of an optimizer in loops over batches, and calls in such loops that get an optimizer.
fn in_loops<'a>(
    facts: &Facts<'a>,
    lookups: &Lookups<'a>,
    call: &Call<'a>,
    trainings: &mut Vec<Training<'a>>,
) {
    let name = call.last_name().unwrap_or("");
    let speaks_of_steps = || {
        words(name).iter().any(|word| ["fit", "learn", "step", "train", "update"].contains(&word.as_str()))
    };
    let mut optimizers: Vec<&Value<'a>> = Vec::new();
    if let Callee::Method(receiver, "step") = &call.callee {
        optimizers.push(receiver);
    }
    if !call.place.around.loops.is_empty() && speaks_of_steps() {
        optimizers.extend(call.arguments.all().map(|(_, value)| value));
    }
    optimizers.retain(|value| may_be_optimizer(value));
    if optimizers.is_empty() {
        return;
    }
    for repeat in &call.place.around.loops {
        let Loop::For(repeat) = repeat else { continue };
        let Some(sequence) = lookups.sequence(facts, repeat) else { continue };
        if trainings.len() > MOST {
            return;
        }
        for batches in wrapped(sequence) {
            trainings.extend(optimizers.iter().map(|optimizer| Training {
                batches: batches.clone(),
                range: repeat.iter.range(),
                optimizer: Value::clone(optimizer),
                place: Rc::clone(&call.place),
            }));
        }
    }
}

/// Finds trainings in `BatchMemoryManager(data_loader=.., optimizer=..)`, which splits batches.
fn in_memory_manager<'a>(call: &Call<'a>, trainings: &mut Vec<Training<'a>>) {
    if call.last_name() != Some("BatchMemoryManager") {
        return;
    }
    let [batches, optimizer] = ["data_loader", "optimizer"].map(|name| call.arguments.named(name));
    if let (Some((expression, batches)), Some((_, optimizer))) = (batches, optimizer) {
        trainings.push(Training {
            batches: batches.clone(),
            range: expression.range(),
            optimizer: optimizer.clone(),
            place: Rc::clone(&call.place),
        });
    }
}

/// For each function name, the pairs of parameters (loader, optimizer) that train in the function.
type Given<'a> = HashMap<&'a str, (&'a StmtFunctionDef, Vec<[(usize, Rc<str>); 2]>)>;

/// For each function of the module, the pairs of parameters (loader, optimizer) that it trains with.
///
/// Each pair counts once.
fn given_to_functions<'a>(facts: &Facts<'a>, lookups: &Lookups<'a>, trainings: &[Training<'a>]) -> Given<'a> {
    let mut given = Given::new();
    let mut known = HashSet::new();
    for training in trainings {
        let around = &training.place.around;
        let ([name], true) = (&around.functions[..], around.classes.is_empty()) else { continue };
        let Some(definition) = lookups.only_function(facts, name) else { continue };
        let parameter = |value: &Value<'a>| {
            let Some(Origin::Variable(parameter)) = value.origin() else { return None };
            Some((position(definition, parameter)?, Rc::clone(parameter)))
        };
        let (Some(batches), Some(optimizer)) = (parameter(&training.batches), parameter(&training.optimizer))
        else {
            continue;
        };
        if known.insert((*name, batches.0, optimizer.0)) {
            given.entry(name).or_insert((definition, Vec::new())).1.push([batches, optimizer]);
        }
    }
    given
}

/// The trainings of a called function, with the call's arguments.
fn in_function<'a>(call: &Call<'a>, given: &Given<'a>) -> Vec<Training<'a>> {
    let Some((_, pairs)) = call.name().and_then(|name| given.get(name)) else { return Vec::new() };
    let carried = pairs.iter().take(MOST).filter_map(|[batches, optimizer]| {
        let of_call = |(place, name): &(usize, Rc<str>)| call.arguments.get(name, *place);
        let ((expression, batches), (_, optimizer)) = (of_call(batches)?, of_call(optimizer)?);
        let (range, place) = (expression.range(), Rc::clone(&call.place));
        Some(Training { batches: batches.clone(), range, optimizer: optimizer.clone(), place })
    });
    carried.collect()
}

fn position(definition: &StmtFunctionDef, parameter: &str) -> Option<usize> {
    definition.parameters.iter().position(|known| known.name().as_str() == parameter)
}

/// The sequences inside `enumerate`, `tqdm`, `zip` and similar calls, or the sequence itself.
fn wrapped<'a>(sequence: &Value<'a>) -> Vec<Value<'a>> {
    let Some(Origin::Constructed(name, _, arguments)) = sequence.origin() else {
        return vec![sequence.clone()];
    };
    let name = name.rsplit('.').next().unwrap_or(name);
    if !WRAPPERS.contains(&name) {
        return vec![sequence.clone()];
    }
    let count = if name == "zip" { usize::MAX } else { 1 };
    let named = arguments.named("iterable").map(|(_, value)| value);
    let given = arguments.positional.iter().map(|(_, value)| value).chain(named);
    given.take(count).flat_map(wrapped).collect()
}

/// Whether a value may be an optimizer: it comes from a private engine or is a parameter.
fn may_be_optimizer(value: &Value) -> bool {
    matches!(value.origin(), Some(Origin::Variable(_)))
        || value.histories().iter().any(|history| is_private(history))
}

/// Whether a value is the optimizer of a private engine.
fn is_private(history: &History) -> bool {
    history.result().is_some_and(|(call, part)| is_make_private(call.name) && part == Some("1"))
}
