//! Lookup tables of a module, shared by several rules; each is built on first use.
//!
//! Without them, rules would walk over all calls for every finding, which takes quadratic time.

use crate::flow::{Facts, History, Operation, Value};
use ruff_python_ast::{StmtClassDef, StmtFor, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// Operations for which rules ask whether they follow in a pipeline.
const FOLLOWERS: [&str; 5] = ["shuffle", "take", "skip", "shard", "batch"];

/// The tables of a module, each built on first use.
#[derive(Debug, Default)]
pub struct Lookups<'a> {
    classes: OnceCell<HashMap<&'a str, &'a StmtClassDef>>,
    functions: OnceCell<HashMap<&'a str, Option<&'a StmtFunctionDef>>>,
    loops: OnceCell<HashMap<*const StmtFor, usize>>,
    lengths: OnceCell<Lengths>,
    followers: OnceCell<Followers>,
}

/// The calls of `len` in a module.
#[derive(Debug, Default)]
struct Lengths {
    /// Indices of the calls, by their position in the text.
    calls: HashMap<TextRange, usize>,
    /// Positions of the values whose length is taken.
    measured: HashSet<TextRange>,
}

/// Later operations on the result of an operation, by the operation's position.
#[derive(Debug, Default)]
struct Followers {
    /// The operations of [`FOLLOWERS`] that follow, as one bit each.
    names: HashMap<TextRange, u8>,
    /// The size of the first batches that are formed later.
    batch_sizes: HashMap<TextRange, Option<i64>>,
}

impl<'a> Lookups<'a> {
    /// The first class with this name.
    pub fn class(&self, facts: &Facts<'a>, name: &str) -> Option<&'a StmtClassDef> {
        let classes = self.classes.get_or_init(|| {
            let mut classes = HashMap::new();
            for class in &facts.classes {
                classes.entry(class.name.as_str()).or_insert(*class);
            }
            classes
        });
        classes.get(name).copied()
    }

    /// The function with this name, if there is exactly one.
    pub fn only_function(&self, facts: &Facts<'a>, name: &str) -> Option<&'a StmtFunctionDef> {
        let functions = self.functions.get_or_init(|| {
            let mut functions = HashMap::new();
            for function in &facts.functions {
                let known = functions.entry(function.name.as_str());
                known.and_modify(|only| *only = None).or_insert(Some(*function));
            }
            functions
        });
        functions.get(name).copied().flatten()
    }

    /// The value that a loop iterates over.
    pub fn sequence<'f>(&self, facts: &'f Facts<'a>, repeat: &StmtFor) -> Option<&'f Value<'a>> {
        let loops = self.loops.get_or_init(|| {
            let mut loops = HashMap::new();
            for (index, (repeat, ..)) in facts.loops.iter().enumerate() {
                loops.entry(std::ptr::from_ref(*repeat)).or_insert(index);
            }
            loops
        });
        loops.get(&std::ptr::from_ref(repeat)).map(|&index| &facts.loops[index].1)
    }

    /// The index of the call of `len` at this position.
    pub fn length_at(&self, facts: &Facts<'a>, range: TextRange) -> Option<usize> {
        self.lengths(facts).calls.get(&range).copied()
    }

    /// Whether `len` is called on the value at this position.
    pub fn is_measured(&self, facts: &Facts<'a>, range: TextRange) -> bool {
        self.lengths(facts).measured.contains(&range)
    }

    fn lengths(&self, facts: &Facts<'a>) -> &Lengths {
        self.lengths.get_or_init(|| {
            let mut lengths = Lengths::default();
            let calls = facts.calls.iter().enumerate().filter(|(_, call)| call.name() == Some("len"));
            for (index, call) in calls {
                lengths.calls.entry(call.expression.range()).or_insert(index);
                lengths.measured.extend(call.arguments.positional.iter().map(|(given, _)| given.range()));
            }
            lengths
        })
    }

    /// Whether one of `names` is called later on the result of an operation. All names must be in [`FOLLOWERS`].
    pub fn is_followed_by(&self, facts: &Facts<'a>, operation: &Operation, names: &[&str]) -> bool {
        let found = self.followers(facts).names.get(&operation.range).copied().unwrap_or(0);
        names.iter().filter_map(|name| bit(name)).any(|bit| found & bit > 0)
    }

    /// The size of the first batches formed from the result of an operation, if the source gives it.
    pub fn batch_size(&self, facts: &Facts<'a>, operation: &Operation) -> Option<i64> {
        self.followers(facts).batch_sizes.get(&operation.range).copied().flatten()
    }

    fn followers(&self, facts: &Facts<'a>) -> &Followers {
        self.followers.get_or_init(|| {
            let mut followers = Followers::default();
            // Histories share earlier steps. For each follower, the walk back stops at a step that it has already passed.
            let mut seen: HashMap<*const Operation<'a>, u8> = HashMap::new();
            for history in facts.pipelines.iter().flat_map(Value::histories) {
                followers.note(history, &mut seen);
            }
            followers
        })
    }
}

impl Followers {
    fn note<'a>(&mut self, history: &History<'a>, seen: &mut HashMap<*const Operation<'a>, u8>) {
        let Some(last) = history.last() else { return };
        let Some(bit) = bit(last.name) else { return };
        let size = || last.arguments.as_ref()?.get("batch_size", 0)?.1.as_int();
        for step in history.backwards().skip(1) {
            let known = seen.entry(std::ptr::from_ref(step)).or_default();
            if *known & bit > 0 {
                break;
            }
            *known |= bit;
            *self.names.entry(step.range).or_default() |= bit;
            if last.name == "batch" {
                self.batch_sizes.entry(step.range).or_insert_with(size);
            }
        }
    }
}

fn bit(name: &str) -> Option<u8> {
    FOLLOWERS.iter().position(|known| *known == name).map(|place| 1 << place)
}
