//! Values of variables at a point of the program, with a journal to undo branches.

use super::value::Value;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Variables (and attributes, as `self.data`) by name.
#[derive(Debug, Default)]
pub struct Environment<'a> {
    values: HashMap<Rc<str>, Value<'a>>,
    journal: Vec<(Rc<str>, Option<Value<'a>>)>,
    /// Number of variables joined so far.
    pub joined: usize,
}

/// A point in the journal.
#[derive(Debug, Clone, Copy)]
pub struct Mark(usize);

/// Values that a branch assigned to variables; `None` if unknown.
pub type Changes<'a> = HashMap<Rc<str>, Option<Value<'a>>>;

impl<'a> Environment<'a> {
    /// The value of a variable, if it is known.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.values.get(name)
    }

    /// Assigns a variable, or forgets it.
    pub fn set(&mut self, name: &str, value: Option<Value<'a>>) {
        let key = match self.values.get_key_value(name) {
            Some((key, _)) => Rc::clone(key),
            None if value.is_none() => return,
            None => Rc::from(name),
        };
        let before = match value {
            Some(value) => self.values.insert(Rc::clone(&key), value),
            None => self.values.remove(&key),
        };
        self.journal.push((key, before));
    }

    /// Marks the start of a branch.
    pub fn mark(&self) -> Mark {
        Mark(self.journal.len())
    }

    /// Undoes everything since the mark and returns what had changed.
    pub fn take_back(&mut self, mark: Mark) -> Changes<'a> {
        let mut changes = Changes::new();
        while self.journal.len() > mark.0 {
            let Some((name, before)) = self.journal.pop() else { break };
            let after = match before {
                Some(value) => self.values.insert(Rc::clone(&name), value),
                None => self.values.remove(&name),
            };
            // The journal is read backwards, so the first value that is met is the last one assigned.
            changes.entry(name).or_insert(after);
        }
        changes
    }

    /// Joins branches of which exactly one runs; a branch keeps the variables that it does not assign.
    pub fn join(&mut self, branches: &[Changes<'a>]) {
        let mut assigned: BTreeMap<&Rc<str>, Vec<(usize, &Option<Value<'a>>)>> = BTreeMap::new();
        for (index, branch) in branches.iter().enumerate() {
            self.joined += branch.len();
            for (name, value) in branch {
                assigned.entry(name).or_default().push((index, value));
            }
        }
        for (name, values) in assigned {
            let before = self.values.get(name).cloned();
            // The first branch that did not assign it stands for all of them.
            let kept = values.iter().enumerate().find(|(place, (index, _))| place != index);
            let kept = kept.map_or(values.len(), |(place, _)| place);
            let mut outcomes: Vec<&Option<Value<'a>>> = values.iter().map(|(_, value)| *value).collect();
            if values.len() < branches.len() {
                outcomes.insert(kept, &before);
            }
            let outcomes: Option<Vec<_>> = outcomes.into_iter().cloned().collect();
            let joined = outcomes.map(|values| Value::any_of(&values));
            self.set(name, joined);
        }
    }
}
