//! Finds places where a model learns from batches: loops, Opacus's memory manager, and functions that contain them.

use crate::flow::{Call, Callee, Facts, History, Loop, Operation, Origin, Place, Value};
use crate::libraries::{is_make_private, is_private_optimizer};
use crate::module::Module;
use crate::role::{Role, words};
use ruff_python_ast::{StmtFor, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Functions that iterate over a sequence without changing its order or batches.
const WRAPPERS: [&str; 13] = [
    "chain",
    "cycle",
    "enumerate",
    "islice",
    "iter",
    "list",
    "prefetch",
    "prepare",
    "tqdm",
    "tqdm_notebook",
    "track",
    "wrap_data_loader",
    "zip",
];
/// Methods that change a model by the gradients of a batch.
const LEARNS: [&str; 7] =
    ["apply_gradients", "apply_updates", "backward", "minimize", "step", "train_on_batch", "virtual_step"];
/// Objects whose `step` does not change the model.
const BYSTANDERS: [&str; 13] = [
    "acc",
    "accountant",
    "engine",
    "lr",
    "meter",
    "noise",
    "profiler",
    "prof",
    "sched",
    "schedule",
    "scheduler",
    "timer",
    "writer",
];
/// Functions that draw normal noise.
const NOISE: [&str; 7] = ["Normal", "gaussian", "gauss", "normal", "normal_", "randn", "randn_like"];
/// Deepest nesting of function calls that is followed.
const DEEPEST: usize = 3;
/// Largest number of trainings in a module.
const MOST: usize = 20_000;

/// A model that learns from a sequence of batches.
#[derive(Debug, Clone)]
pub struct Training<'a> {
    /// The sequence of batches.
    pub batches: Value<'a>,
    /// The place where the batches are named.
    pub range: TextRange,
    /// The values that may be the optimizer.
    pub optimizers: Vec<Value<'a>>,
    /// The statement that contains the training step.
    pub place: Rc<Place<'a>>,
    /// Whether noise is added to the gradients by hand.
    pub is_noisy: bool,
}

/// All trainings of a module, except tests and evaluation.
#[derive(Debug, Default)]
pub struct Trainings<'a> {
    /// The trainings.
    pub all: Vec<Training<'a>>,
    /// Optimizers that were given to a private engine's `attach`.
    attached: Vec<Value<'a>>,
}

impl<'a> Trainings<'a> {
    /// Finds the trainings of a module.
    pub fn of(module: &Module<'a>) -> Self {
        let facts = &module.facts;
        let mut trainings = Vec::new();
        let mut noisy = Noisy { module, known: HashMap::new() };
        for call in &facts.calls {
            if trainings.len() < MOST && Role::around(&call.place) != Role::Evaluation {
                in_loops(module, call, &mut noisy, &mut trainings);
                in_memory_manager(call, &mut trainings);
            }
        }
        drawn_by_next(facts, &mut trainings);
        let mut newest = trainings.clone();
        for _ in 0..DEEPEST {
            let given = given_to_functions(module, &newest);
            if given.is_empty() {
                break;
            }
            newest = facts.calls.iter().flat_map(|call| in_function(call, &given)).take(MOST).collect();
            trainings.extend_from_slice(&newest);
        }
        let attached = facts.calls.iter().filter(|call| call.method() == Some("attach"));
        let attached = attached.filter_map(|call| call.arguments.get("optimizer", 0));
        let attached = attached.map(|(_, value)| value.clone()).collect();
        Trainings { all: trainings, attached }
    }

    /// Whether a training adds noise: by a private engine, by a private optimizer, or by hand.
    pub fn is_private(&self, training: &Training<'a>) -> bool {
        training.is_noisy
            || training.optimizers.iter().any(|optimizer| {
                optimizer.histories().iter().any(|history| is_private(history) || is_private_class(history))
                    || self.attached.iter().any(|attached| is_same(attached, optimizer))
            })
    }

    /// Whether a loop contains a step of learning.
    pub fn learns_in(&self, repeat: &StmtFor) -> bool {
        self.all.iter().any(|training| {
            let mut loops = training.place.around.loops.iter();
            loops.any(|own| matches!(own, Loop::For(own) if std::ptr::eq(*own, repeat)))
        })
    }
}

/// Whether two values are the same object, or are read from the same unknown name.
pub fn is_same(one: &Value, other: &Value) -> bool {
    match (one.origin(), other.origin()) {
        (Some(Origin::Variable(one)), Some(Origin::Variable(other))) => one == other,
        _ => one.is(other),
    }
}

/// Finds a step of learning in loops over batches.
fn in_loops<'a>(
    module: &Module<'a>,
    call: &Call<'a>,
    noisy: &mut Noisy<'_, 'a>,
    trainings: &mut Vec<Training<'a>>,
) {
    if call.place.around.loops.is_empty() || !learns(call) {
        return;
    }
    let mut optimizers: Vec<Value<'a>> = call.arguments.all().map(|(_, value)| value.clone()).collect();
    if let Callee::Method(receiver, _) = &call.callee {
        optimizers.push(receiver.clone());
    }
    optimizers.retain(may_be_optimizer);
    for repeat in &call.place.around.loops {
        let Loop::For(repeat) = repeat else { continue };
        let Some(sequence) = module.lookups.sequence(&module.facts, repeat) else { continue };
        if trainings.len() > MOST {
            return;
        }
        let is_noisy = counts_steps(call) || noisy.is_noisy(repeat);
        trainings.extend(wrapped(sequence).into_iter().map(|batches| Training {
            batches,
            range: repeat.iter.range(),
            optimizers: optimizers.clone(),
            place: Rc::clone(&call.place),
            is_noisy,
        }));
    }
}

/// Whether a call changes the model.
pub fn learns(call: &Call) -> bool {
    let Some(name) = call.last_name() else { return false };
    if LEARNS.contains(&name) {
        let is_bystander = |name: &str| words(name).iter().any(|word| BYSTANDERS.contains(&word.as_str()));
        return match &call.callee {
            Callee::Method(receiver, "step") => {
                !matches!(receiver.origin(), Some(Origin::Variable(name)) if is_bystander(name))
                    && !matches!(receiver.origin(), Some(Origin::Constructed(name, ..)) if is_bystander(name))
                    || counts_steps(call)
            }
            _ => true,
        };
    }
    let words = words(name);
    let has = |word: &str| words.iter().any(|own| own == word);
    let has_arguments = !call.arguments.positional.is_empty() || !call.arguments.keywords.is_empty();
    let of_optimizer = || {
        matches!(&call.callee, Callee::Method(receiver, "update")
            if matches!(receiver.origin(), Some(Origin::Variable(name)) if name.contains("opt")))
    };
    has_arguments
        && (["fit", "learn", "train", "training"].iter().any(|word| has(word))
            || (has("update") && (words.len() > 1 || of_optimizer()))
            || (has("step") && words.len() > 1 && !has("scheduler")))
}

/// Whether a call tells an accountant of one private step.
fn counts_steps(call: &Call) -> bool {
    call.method() == Some("step") && call.arguments.named("sample_rate").is_some()
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
            optimizers: vec![optimizer.clone()],
            place: Rc::clone(&call.place),
            is_noisy: false,
        });
    }
}

/// Finds batches that are taken by `next(batches)` in a loop that learns.
fn drawn_by_next<'a>(facts: &Facts<'a>, trainings: &mut Vec<Training<'a>>) {
    let learning: HashSet<*const StmtFor> = trainings
        .iter()
        .flat_map(|training| &training.place.around.loops)
        .filter_map(
            |repeat| if let Loop::For(repeat) = repeat { Some(std::ptr::from_ref(*repeat)) } else { None },
        )
        .collect();
    let mut drawn = Vec::new();
    for call in facts.calls.iter().filter(|call| call.name() == Some("next")) {
        let inner = call.place.around.loops.iter().find_map(|repeat| match repeat {
            Loop::For(repeat) if learning.contains(&std::ptr::from_ref(*repeat)) => Some(*repeat),
            _ => None,
        });
        let (Some(repeat), Some((expression, value))) = (inner, call.arguments.positional.first()) else {
            continue;
        };
        let same = trainings.iter().find(|training| {
            training
                .place
                .around
                .loops
                .iter()
                .any(|own| matches!(own, Loop::For(own) if std::ptr::eq(*own, repeat)))
        });
        let Some(same) = same else { continue };
        for batches in wrapped(value) {
            drawn.push(Training { batches, range: expression.range(), ..same.clone() });
        }
    }
    trainings.extend(drawn);
}

/// The parameters of a function that it trains with.
#[derive(Debug, Clone)]
struct Given<'a> {
    definition: &'a StmtFunctionDef,
    batches: (usize, Rc<str>),
    optimizers: Vec<(usize, Rc<str>)>,
    is_noisy: bool,
}

/// For each function of the module, the parameters that it trains with.
fn given_to_functions<'a>(
    module: &Module<'a>,
    trainings: &[Training<'a>],
) -> HashMap<&'a str, Vec<Given<'a>>> {
    let mut given: HashMap<&'a str, Vec<Given<'a>>> = HashMap::new();
    let mut known = HashSet::new();
    for training in trainings {
        let Some(name) = training.place.around.functions.last() else { continue };
        let Some(definition) = module.lookups.only_function(&module.facts, name) else { continue };
        let parameter = |value: &Value<'a>| {
            let Some(Origin::Variable(parameter)) = value.origin() else { return None };
            Some((position(definition, parameter)?, Rc::clone(parameter)))
        };
        let Some(batches) = parameter(&training.batches) else { continue };
        let optimizers: Vec<_> = training.optimizers.iter().filter_map(parameter).collect();
        if known.insert((*name, batches.0, optimizers.clone(), training.is_noisy)) {
            let is_noisy = training.is_noisy;
            given.entry(name).or_default().push(Given { definition, batches, optimizers, is_noisy });
        }
    }
    given
}

/// The trainings of a called function, with the call's arguments.
fn in_function<'a>(call: &Call<'a>, given: &HashMap<&'a str, Vec<Given<'a>>>) -> Vec<Training<'a>> {
    let Some(pairs) = call.last_name().and_then(|name| given.get(name)) else { return Vec::new() };
    let carried = pairs.iter().take(MOST).filter_map(|given| {
        let takes_self =
            given.definition.parameters.iter().next().is_some_and(|first| first.name() == "self");
        let skipped = usize::from(takes_self);
        let of_call =
            |(place, name): &(usize, Rc<str>)| call.arguments.get(name, place.checked_sub(skipped)?);
        let (expression, batches) = of_call(&given.batches)?;
        let optimizers = given.optimizers.iter().filter_map(|optimizer| Some(of_call(optimizer)?.1.clone()));
        Some(wrapped(batches).into_iter().map({
            let optimizers: Vec<Value<'a>> = optimizers.collect();
            move |batches| Training {
                batches,
                range: expression.range(),
                optimizers: optimizers.clone(),
                place: Rc::clone(&call.place),
                is_noisy: given.is_noisy,
            }
        }))
    });
    carried.flatten().collect()
}

fn position(definition: &StmtFunctionDef, parameter: &str) -> Option<usize> {
    definition.parameters.iter().position(|known| known.name().as_str() == parameter)
}

/// The sequences inside `enumerate`, `tqdm`, `zip` and similar calls, or the sequence itself.
pub fn wrapped<'a>(sequence: &Value<'a>) -> Vec<Value<'a>> {
    if sequence.histories().len() > 1 && sequence.histories().iter().any(|history| is_wrapper(history)) {
        return sequence.alternatives().flat_map(|value| wrapped(&value)).collect();
    }
    let (name, arguments) = match sequence.origin() {
        Some(Origin::Constructed(name, _, arguments)) => (&**name, arguments),
        _ => match sequence.histories() {
            [history] => match history.last() {
                Some(Operation { name: "prepare", arguments: Some(given), .. }) => ("prepare", given),
                _ => return vec![sequence.clone()],
            },
            _ => return vec![sequence.clone()],
        },
    };
    let name = name.rsplit('.').next().unwrap_or(name);
    if !WRAPPERS.contains(&name) {
        return vec![sequence.clone()];
    }
    let count = if matches!(name, "zip" | "prepare") { usize::MAX } else { 1 };
    let named = ["iterable", "data_loader"].iter().filter_map(|name| arguments.named(name));
    let given = arguments.positional.iter().map(|(_, value)| value).chain(named.map(|(_, value)| value));
    given.take(count).flat_map(wrapped).collect()
}

fn is_wrapper(history: &History) -> bool {
    matches!(history.origin(), Origin::Constructed(name, ..)
        if name.rsplit('.').next().is_some_and(|name| WRAPPERS.contains(&name)))
}

/// Whether a value may be an optimizer: it comes from a private engine, is a parameter, or was constructed.
fn may_be_optimizer(value: &Value) -> bool {
    matches!(value.origin(), Some(Origin::Variable(_) | Origin::Constructed(..)))
        || value.histories().iter().any(|history| is_private(history) || is_private_class(history))
}

/// Whether a value is the optimizer of a private engine.
pub fn is_private(history: &History) -> bool {
    history.result().is_some_and(|(call, part)| is_make_private(call.name) && part == Some("1"))
}

/// Whether a value is an object of a private optimizer's class.
fn is_private_class(history: &History) -> bool {
    matches!(history.origin(), Origin::Constructed(name, ..) if {
        let name = name.rsplit('.').next().unwrap_or(name);
        is_private_optimizer(name) || (name.starts_with("DP") || name.ends_with("DP")) && name.len() > 3
    })
}

/// Finds loops that add noise to gradients by hand, each once.
struct Noisy<'m, 'a> {
    module: &'m Module<'a>,
    known: HashMap<TextRange, bool>,
}

impl Noisy<'_, '_> {
    fn is_noisy(&mut self, repeat: &StmtFor) -> bool {
        let range = repeat.range();
        if let Some(known) = self.known.get(&range) {
            return *known;
        }
        let module = self.module;
        let called = module.facts.calls.iter().filter(|call| range.contains_range(call.expression.range()));
        let mut texts = vec![range];
        for call in called.take(200) {
            let function =
                call.last_name().and_then(|name| module.lookups.only_function(&module.facts, name));
            texts.extend(function.map(Ranged::range));
        }
        let is_noisy = texts.iter().any(|range| adds_noise(&module.source.text[*range]));
        self.known.insert(range, is_noisy);
        is_noisy
    }
}

/// Whether a text draws normal numbers that it calls noise, and clips.
fn adds_noise(text: &str) -> bool {
    let names_noise = ["noise_multiplier", "noise_scale", "sigma", "noise_std", "noise"];
    let clips = text.contains("clip") || text.contains("max_norm") || text.contains("max_grad_norm");
    clips
        && names_noise.iter().any(|name| text.contains(name))
        && (NOISE.iter().any(|name| text.contains(&format!("{name}("))) || text.contains("add_noise"))
}
