//! Finds places where a model learns from batches: loops, Opacus's memory manager, and functions that contain them.

use crate::flow::{Call, Callee, Facts, History, Loop, Operation, Origin, Place, Value};
use crate::libraries::{is_make_private, is_private_optimizer};
use crate::module::Module;
use crate::role::{Role, words};
use ruff_python_ast::{ExprCall, StmtFor, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange, TextSize};
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
/// Largest number of functions that are read for noise in a loop, and the longest of them.
const MOST_CALLED: usize = 20;
const LONGEST_FUNCTION: TextSize = TextSize::new(20_000);
/// Largest number of attached optimizers.
const MOST_ATTACHED: usize = 50;
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
    /// Whether any training is private.
    pub has_private: bool,
    /// Whether a private training reads batches of unknown origin.
    pub reads_unknown: bool,
    /// What happens to the batches of each loader, by the call that made it and by its last name.
    fates: HashMap<*const ExprCall, Fate>,
    fates_of_names: HashMap<Rc<str>, Fate>,
    /// Loaders that are given to a function that trains.
    given: HashSet<*const ExprCall>,
    given_names: HashSet<Rc<str>>,
    /// Loops that contain a step of learning, and loops that contain loops.
    learning: HashSet<*const StmtFor>,
    outer: HashSet<*const StmtFor>,
    /// Positions of all calls that learn, in order.
    steps: Vec<TextSize>,
    /// The start of the last private training, by functions.
    last_private: HashMap<Vec<&'a str>, TextSize>,
}

/// What happens to the batches of a loader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// They leave the module or the function.
    Unknown,
    /// They are read, and nothing learns from them.
    Read,
    /// A model learns from them, without noise as far as the source shows.
    Learned,
    /// A private optimizer learns from them.
    Private,
}

impl<'a> Trainings<'a> {
    /// Finds the trainings of a module.
    pub fn of(module: &Module<'a>) -> Self {
        let facts = &module.facts;
        let mut trainings = Vec::new();
        let mut noisy = Noisy::new(module);
        for call in &facts.calls {
            if trainings.len() < MOST && Role::around(&call.place) != Role::Evaluation {
                in_loops(module, call, &mut noisy, &mut trainings);
                in_memory_manager(call, &mut trainings);
            }
        }
        drawn_by_next(facts, &mut trainings);
        let neighbours = &module.neighbours.trains;
        let in_neighbours = facts.calls.iter().filter(|_| !neighbours.is_empty()).filter_map(|call| {
            let given = neighbours.get(call.name()?)?;
            Some(carried(call, given))
        });
        trainings.extend(in_neighbours.flatten().take(MOST));
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
        let attached = attached.filter_map(|call| call.arguments.get("optimizer", 0)).take(MOST_ATTACHED);
        let attached = attached.map(|(_, value)| value.clone()).collect();
        let mut found = Trainings { all: trainings, attached, ..Trainings::default() };
        found.index(facts);
        found
    }

    /// The parameters that the module's functions train with, by function.
    pub fn parameters(&self, module: &Module<'a>) -> HashMap<&'a str, Vec<Given<'a>>> {
        given_to_functions(module, &self.all)
    }

    /// Notes what rules ask for, so that each question takes constant time.
    fn index(&mut self, facts: &Facts<'a>) {
        for (repeat, value, place) in &facts.loops {
            let outer = place.around.loops.last();
            self.outer.extend(outer.and_then(pointer));
            let _ = repeat;
            for value in wrapped(value) {
                self.note(&value, Fate::Read);
            }
        }
        let trainings = std::mem::take(&mut self.all);
        for training in &trainings {
            let is_private = self.is_private(training);
            self.has_private |= is_private;
            let is_known = |history: &History| matches!(history.origin(), Origin::Constructed(..));
            self.reads_unknown |= is_private && !training.batches.always(is_known);
            self.note(&training.batches, if is_private { Fate::Private } else { Fate::Learned });
            self.learning.extend(training.place.around.loops.iter().filter_map(pointer));
            if is_private {
                let last = self.last_private.entry(training.place.around.functions.clone()).or_default();
                *last = training.range.start().max(*last);
            }
        }
        self.all = trainings;
        for call in facts.calls.iter().filter(|call| learns(call)) {
            self.steps.push(call.expression.range().start());
            for value in call.arguments.all().flat_map(|(_, value)| inside(value, 2)) {
                for history in value.histories() {
                    match history.origin() {
                        Origin::Constructed(_, expression, _) if !is_replaced(history) => {
                            self.given.insert(std::ptr::from_ref(*expression));
                        }
                        Origin::Variable(name) => {
                            self.given_names.insert(Rc::from(last_part(name)));
                        }
                        _ => {}
                    }
                }
            }
        }
        self.steps.sort_unstable();
    }

    /// Notes what happens to batches. A private training outweighs others.
    fn note(&mut self, batches: &Value<'a>, fate: Fate) {
        for history in batches.histories().iter().filter(|history| !is_replaced(history)) {
            let known = match history.origin() {
                Origin::Constructed(_, expression, _) => {
                    self.fates.entry(std::ptr::from_ref(*expression)).or_insert(fate)
                }
                Origin::Variable(name) if fate > Fate::Read => {
                    self.fates_of_names.entry(Rc::from(last_part(name))).or_insert(fate)
                }
                _ => continue,
            };
            *known = fate.max(*known);
        }
    }

    /// What happens to the batches of a loader.
    pub fn fate(&self, loader: &Call<'a>) -> Fate {
        let own = self.fates.get(&std::ptr::from_ref(loader.expression)).copied();
        let of_names =
            loader.place.targets.iter().filter_map(|name| self.fates_of_names.get(*name).copied()).max();
        own.max(of_names).unwrap_or(Fate::Unknown)
    }

    /// Whether a function that trains elsewhere gets a loader.
    pub fn is_given(&self, loader: &Call<'a>) -> bool {
        self.given.contains(&std::ptr::from_ref(loader.expression))
            || loader.place.targets.iter().any(|name| self.given_names.contains(*name))
    }

    /// Whether a loop contains a step of learning.
    pub fn learns_in(&self, repeat: &StmtFor) -> bool {
        self.learning.contains(&std::ptr::from_ref(repeat))
    }

    /// Whether a loop contains other loops.
    pub fn is_outer(&self, repeat: &StmtFor) -> bool {
        self.outer.contains(&std::ptr::from_ref(repeat))
    }

    /// Whether a call that learns is within a range.
    pub fn steps_in(&self, range: TextRange) -> bool {
        let first = self.steps.partition_point(|at| *at < range.start());
        self.steps.get(first).is_some_and(|at| *at < range.end())
    }

    /// The start of the last private training in some functions.
    pub fn last_private(&self, functions: &[&'a str]) -> Option<TextSize> {
        self.last_private.get(functions).copied()
    }

    /// Whether a training adds noise: by a private engine, by a private optimizer, or by hand.
    pub fn is_private(&self, training: &Training<'a>) -> bool {
        training.is_noisy
            || training.optimizers.iter().any(|optimizer| {
                optimizer.histories().iter().any(|history| is_private(history) || is_private_class(history))
                    || self.attached.iter().any(|attached| is_same(attached, optimizer))
            })
    }
}

/// The last part of a dotted name.
pub fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The address of a `for` loop, as its identity.
fn pointer(repeat: &Loop) -> Option<*const StmtFor> {
    if let Loop::For(repeat) = repeat { Some(std::ptr::from_ref(*repeat)) } else { None }
}

/// Whether a private engine made this value of another.
fn is_replaced(history: &History) -> bool {
    history.backwards().any(|step| is_make_private(step.name))
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
    let mut learning: HashMap<*const StmtFor, usize> = HashMap::new();
    for (index, training) in trainings.iter().enumerate() {
        for repeat in training.place.around.loops.iter().filter_map(pointer) {
            learning.entry(repeat).or_insert(index);
        }
    }
    let mut drawn = Vec::new();
    for call in facts.calls.iter().filter(|call| call.name() == Some("next")) {
        let same =
            call.place.around.loops.iter().filter_map(pointer).find_map(|repeat| learning.get(&repeat));
        let (Some(same), Some((expression, value))) = (same, call.arguments.positional.first()) else {
            continue;
        };
        for batches in wrapped(value) {
            drawn.push(Training { batches, range: expression.range(), ..trainings[*same].clone() });
        }
    }
    trainings.extend(drawn);
}

/// The parameters of a function that it trains with.
#[derive(Debug, Clone)]
pub struct Given<'a> {
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

/// The trainings of a called function of the module.
fn in_function<'a>(call: &Call<'a>, given: &HashMap<&'a str, Vec<Given<'a>>>) -> Vec<Training<'a>> {
    call.last_name().and_then(|name| given.get(name)).map_or_else(Vec::new, |given| carried(call, given))
}

/// The trainings of a called function, with the call's arguments.
fn carried<'a>(call: &Call<'a>, pairs: &[Given<'a>]) -> Vec<Training<'a>> {
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
    /// Positions of the calls of the module's functions, in order, with the functions.
    calls: Vec<(TextSize, TextRange)>,
}

impl<'m, 'a> Noisy<'m, 'a> {
    fn new(module: &'m Module<'a>) -> Self {
        let of_functions = module.facts.calls.iter().filter_map(|call| {
            let function = module.lookups.only_function(&module.facts, call.last_name()?)?;
            Some((call.expression.range().start(), function.range()))
        });
        let mut calls: Vec<_> = of_functions.collect();
        calls.sort_unstable_by_key(|(start, _)| *start);
        Noisy { module, known: HashMap::new(), calls }
    }

    fn is_noisy(&mut self, repeat: &StmtFor) -> bool {
        let range = repeat.range();
        if let Some(known) = self.known.get(&range) {
            return *known;
        }
        let text = |range: TextRange| &self.module.source.text[range];
        let first = self.calls.partition_point(|(start, _)| *start < range.start());
        let called =
            self.calls[first..].iter().take_while(|(start, _)| *start < range.end()).take(MOST_CALLED);
        let mut is_noisy = adds_noise(text(range));
        for (_, function) in called {
            is_noisy |= function.len() < LONGEST_FUNCTION && adds_noise(text(*function));
        }
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
