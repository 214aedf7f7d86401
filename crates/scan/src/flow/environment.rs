//! The values of variables at a point of the program, with a journal to undo branches.

use super::value::Value;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Variables by name, including attributes such as `self.data`.
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
    /// The value of a variable; `None` if it is unknown.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.values.get(name)
    }

    /// Sets the value of a variable; `None` makes it unknown.
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

    /// Undoes all changes since the mark and returns them.
    pub fn take_back(&mut self, mark: Mark) -> Changes<'a> {
        let mut changes = Changes::new();
        while self.journal.len() > mark.0 {
            let Some((name, before)) = self.journal.pop() else { break };
            let after = match before {
                Some(value) => self.values.insert(Rc::clone(&name), value),
                None => self.values.remove(&name),
            };
            // The journal is read backwards, so the first value found is the last one assigned.
            changes.entry(name).or_insert(after);
        }
        changes
    }

    /// Joins branches of which exactly one runs. A branch keeps variables that it does not assign.
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
            // The old value is inserted at the place of the first branch that did not assign the variable.
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
