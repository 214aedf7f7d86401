//! What is known of a value: where it came from, and what was done to it since.

use super::place::Place;
use crate::role::Role;
use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::TextRange;
use std::cell::OnceCell;
use std::rc::Rc;

/// Operations that are remembered of one value; older history is dropped beyond.
const LONGEST_HISTORY: usize = 256;
/// Ways in which a value may have come about that are told apart.
const MOST_ALTERNATIVES: usize = 16;

/// A value as one of several histories, depending on the branches that were taken.
#[derive(Debug, Clone)]
pub struct Value<'a>(Rc<[Rc<History<'a>>]>);

/// One way in which a value came about.
#[derive(Debug)]
pub struct History<'a> {
    length: usize,
    link: Link<'a>,
}

#[derive(Debug)]
enum Link<'a> {
    Start(Origin<'a>),
    Step(Rc<History<'a>>, Operation<'a>),
}

/// Where a value came from.
#[derive(Debug, Clone)]
pub enum Origin<'a> {
    /// Nothing is known.
    Anything,
    /// A variable or parameter that nothing is known of.
    Variable(Rc<str>),
    /// Something imported, by its full name.
    Imported(Rc<str>),
    /// The result of calling a function or class by its full name (or bare name, for what the module defines).
    Constructed(Rc<str>, &'a ExprCall, Rc<Arguments<'a>>),
    /// A literal number.
    Int(i64),
    /// `True` or `False`.
    Bool(bool),
    /// A literal string.
    Text(&'a str),
    /// A tuple or list, item by item.
    Items(Rc<[Value<'a>]>),
}

/// A method called on a value (or an item taken of it, where `arguments` is `None`).
#[derive(Debug, Clone)]
pub struct Operation<'a> {
    /// The method, or the key of the item.
    pub name: &'a str,
    /// Where its name stands.
    pub range: TextRange,
    /// What it was called with.
    pub arguments: Option<Rc<Arguments<'a>>>,
    /// Where in the program.
    pub place: Rc<Place<'a>>,
}

/// The arguments of a call, with what is known of their values.
#[derive(Debug, Default)]
pub struct Arguments<'a> {
    /// In order, up to the first `*`.
    pub positional: Vec<(&'a Expr, Value<'a>)>,
    /// By name.
    pub keywords: Vec<(&'a str, &'a Expr, Value<'a>)>,
    /// Whether `*` or `**` may hide more of them.
    pub open: bool,
    /// What they say of the data's use, once a rule has asked.
    pub role: OnceCell<Role>,
}

impl<'a> Arguments<'a> {
    /// The argument of a name, or at a position.
    pub fn get(&self, name: &str, position: usize) -> Option<(&'a Expr, &Value<'a>)> {
        self.named(name)
            .or_else(|| self.positional.get(position).map(|(expression, value)| (*expression, value)))
    }

    /// The argument of a name.
    pub fn named(&self, name: &str) -> Option<(&'a Expr, &Value<'a>)> {
        let mut keywords = self.keywords.iter();
        keywords.find(|(keyword, ..)| *keyword == name).map(|(_, expression, value)| (*expression, value))
    }

    /// All of them, with their expressions.
    pub fn all(&self) -> impl Iterator<Item = (&'a Expr, &Value<'a>)> {
        let positional = self.positional.iter().map(|(expression, value)| (*expression, value));
        positional.chain(self.keywords.iter().map(|(_, expression, value)| (*expression, value)))
    }
}

/// The name of an item at a position; nothing for those far behind.
pub fn name_of_item(position: usize) -> &'static str {
    ["0", "1", "2", "3"].get(position).copied().unwrap_or("")
}

impl<'a> Value<'a> {
    /// A value that starts here.
    pub fn start(origin: Origin<'a>) -> Self {
        Value(Rc::new([Rc::new(History { length: 0, link: Link::Start(origin) })]))
    }

    /// A value of which nothing is known.
    pub fn anything() -> Self {
        Value::start(Origin::Anything)
    }

    /// One of several values.
    pub fn any_of(values: &[Value<'a>]) -> Self {
        let mut histories: Vec<Rc<History<'a>>> = Vec::new();
        for history in values.iter().flat_map(Value::histories) {
            if !histories.iter().any(|known| Rc::ptr_eq(known, history)) {
                histories.push(Rc::clone(history));
            }
            if histories.len() > MOST_ALTERNATIVES {
                break;
            }
        }
        if histories.is_empty() || histories.len() > MOST_ALTERNATIVES {
            return Value::anything();
        }
        Value(histories.into())
    }

    /// What one more operation costs, in steps of a history: rules walk back over all of them.
    pub fn effort(&self) -> usize {
        self.0.iter().map(|history| 4 + history.length / 8).sum()
    }

    /// What becomes of the value by a method call.
    pub fn then(&self, operation: &Operation<'a>) -> Self {
        let histories = self.0.iter().map(|history| history.then(operation.clone()));
        Value(histories.collect::<Vec<_>>().into())
    }

    /// The ways in which the value may have come about; at least one.
    pub fn histories(&self) -> &[Rc<History<'a>>] {
        &self.0
    }

    /// Whether something is true of every way in which the value may have come about.
    pub fn always(&self, is_true: impl Fn(&History<'a>) -> bool) -> bool {
        self.0.iter().all(|history| is_true(history))
    }

    /// Whether the value is known to be what another one is: the same object, however it came about.
    pub fn is(&self, other: &Value<'a>) -> bool {
        self.0.iter().all(|history| other.0.iter().any(|known| Rc::ptr_eq(known, history)))
    }

    /// The origin, where there is one only and nothing was done to it since.
    pub fn origin(&self) -> Option<&Origin<'a>> {
        match &*self.0 {
            [history] => match &history.link {
                Link::Start(origin) => Some(origin),
                Link::Step(..) => None,
            },
            _ => None,
        }
    }

    /// The whole number that the value is known to be.
    pub fn as_int(&self) -> Option<i64> {
        if let Some(Origin::Int(number)) = self.origin() { Some(*number) } else { None }
    }

    /// The truth value that the value is known to be.
    pub fn as_bool(&self) -> Option<bool> {
        if let Some(Origin::Bool(truth)) = self.origin() { Some(*truth) } else { None }
    }

    /// The text that the value is known to be.
    pub fn as_text(&self) -> Option<&'a str> {
        if let Some(Origin::Text(text)) = self.origin() { Some(text) } else { None }
    }
}

impl<'a> History<'a> {
    fn then(self: &Rc<Self>, operation: Operation<'a>) -> Rc<Self> {
        if self.length >= LONGEST_HISTORY {
            return Rc::new(History { length: 0, link: Link::Start(Origin::Anything) });
        }
        Rc::new(History { length: self.length + 1, link: Link::Step(Rc::clone(self), operation) })
    }

    /// The operations, from the last one back to the first.
    pub fn backwards(&self) -> impl Iterator<Item = &Operation<'a>> {
        let mut history = self;
        std::iter::from_fn(move || match &history.link {
            Link::Start(_) => None,
            Link::Step(before, operation) => {
                history = before;
                Some(operation)
            }
        })
    }

    /// The last operation.
    pub fn last(&self) -> Option<&Operation<'a>> {
        self.backwards().next()
    }

    /// The method call whose result this is, as a whole or (by the part's name) in part.
    pub fn result(&self) -> Option<(&Operation<'a>, Option<&'a str>)> {
        let mut operations = self.backwards();
        let last = operations.next()?;
        if last.arguments.is_some() {
            return Some((last, None));
        }
        let call = operations.next().filter(|call| call.arguments.is_some())?;
        Some((call, Some(last.name)))
    }

    /// Whether an operation, told by its place in the text, is part of the history.
    pub fn contains(&self, operation: &Operation<'a>) -> bool {
        self.backwards().any(|step| step.range == operation.range)
    }

    /// Where the value came from.
    pub fn origin(&self) -> &Origin<'a> {
        let mut history = self;
        loop {
            match &history.link {
                Link::Start(origin) => return origin,
                Link::Step(before, _) => history = before,
            }
        }
    }
}
