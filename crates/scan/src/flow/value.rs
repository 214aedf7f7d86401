//! Values: an origin, and the operations since then.

use super::place::Place;
use crate::role::Role;
use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::TextRange;
use std::cell::OnceCell;
use std::rc::Rc;

/// The longest history of a value; older operations are dropped.
const LONGEST_HISTORY: usize = 256;
/// The largest number of alternative histories of a value.
const MOST_ALTERNATIVES: usize = 16;

/// A value, with one history for each possible combination of branches.
#[derive(Debug, Clone)]
pub struct Value<'a>(Rc<[Rc<History<'a>>]>);

/// One possible history of a value: an origin, and the operations since then.
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

/// The origin of a value.
#[derive(Debug, Clone)]
pub enum Origin<'a> {
    /// The origin is unknown.
    Anything,
    /// A variable or parameter with an unknown value.
    Variable(Rc<str>),
    /// An imported item, by its full name.
    Imported(Rc<str>),
    /// The result of a call, by the full name. If the module defines the function, by its bare name.
    Constructed(Rc<str>, &'a ExprCall, Rc<Arguments<'a>>),
    /// A literal number.
    Int(i64),
    /// `True` or `False`.
    Bool(bool),
    /// A literal string.
    Text(&'a str),
    /// A tuple or list, with the value of each item.
    Items(Rc<[Value<'a>]>),
    /// A dictionary with names as keys.
    Entries(Rc<[(&'a str, &'a Expr, Value<'a>)]>),
}

/// A method call on a value. If `arguments` is `None`, an item taken from the value.
#[derive(Debug, Clone)]
pub struct Operation<'a> {
    /// The name of the method, or the key of the item.
    pub name: &'a str,
    /// The position of that name in the text.
    pub range: TextRange,
    /// The arguments of the call.
    pub arguments: Option<Rc<Arguments<'a>>>,
    /// The statement that contains the operation.
    pub place: Rc<Place<'a>>,
}

/// The arguments of a call and their values.
#[derive(Debug, Default)]
pub struct Arguments<'a> {
    /// Positional arguments in order, up to the first `*`.
    pub positional: Vec<(&'a Expr, Value<'a>)>,
    /// Keyword arguments.
    pub keywords: Vec<(&'a str, &'a Expr, Value<'a>)>,
    /// Whether `*` or `**` may add more arguments.
    pub open: bool,
    /// The role that the arguments suggest, computed on first use.
    pub role: OnceCell<Role>,
}

impl<'a> Arguments<'a> {
    /// The argument with this name or at this position.
    pub fn get(&self, name: &str, position: usize) -> Option<(&'a Expr, &Value<'a>)> {
        self.named(name)
            .or_else(|| self.positional.get(position).map(|(expression, value)| (*expression, value)))
    }

    /// The keyword argument with this name.
    pub fn named(&self, name: &str) -> Option<(&'a Expr, &Value<'a>)> {
        let mut keywords = self.keywords.iter();
        keywords.find(|(keyword, ..)| *keyword == name).map(|(_, expression, value)| (*expression, value))
    }

    /// All arguments with their expressions and values.
    pub fn all(&self) -> impl Iterator<Item = (&'a Expr, &Value<'a>)> {
        let positional = self.positional.iter().map(|(expression, value)| (*expression, value));
        positional.chain(self.keywords.iter().map(|(_, expression, value)| (*expression, value)))
    }
}

/// The name of the item at a position, up to position 3; else an empty string.
pub fn name_of_item(position: usize) -> &'static str {
    ["0", "1", "2", "3"].get(position).copied().unwrap_or("")
}

impl<'a> Value<'a> {
    /// Makes a value without operations, from its origin.
    pub fn start(origin: Origin<'a>) -> Self {
        Value(Rc::new([Rc::new(History { length: 0, link: Link::Start(origin) })]))
    }

    /// Makes an unknown value.
    pub fn anything() -> Self {
        Value::start(Origin::Anything)
    }

    /// Joins several values into one that may be any of them.
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

    /// The cost of one more operation. It grows with the length of all histories, because rules walk back over them.
    pub fn effort(&self) -> usize {
        self.0.iter().map(|history| 4 + history.length / 8).sum()
    }

    /// Returns the value after a method call.
    pub fn then(&self, operation: &Operation<'a>) -> Self {
        let histories = self.0.iter().map(|history| history.then(operation.clone()));
        Value(histories.collect::<Vec<_>>().into())
    }

    /// The values that it may be, one for each history.
    pub fn alternatives(&self) -> impl Iterator<Item = Value<'a>> {
        self.0.iter().map(|history| Value(Rc::new([Rc::clone(history)])))
    }

    /// The possible histories; at least one.
    pub fn histories(&self) -> &[Rc<History<'a>>] {
        &self.0
    }

    /// Whether a condition is true for every possible history.
    pub fn always(&self, is_true: impl Fn(&History<'a>) -> bool) -> bool {
        self.0.iter().all(|history| is_true(history))
    }

    /// Whether two values are known to be the same object.
    pub fn is(&self, other: &Value<'a>) -> bool {
        self.0.iter().all(|history| other.0.iter().any(|known| Rc::ptr_eq(known, history)))
    }

    /// The origin, if there is only one history and it has no operations.
    pub fn origin(&self) -> Option<&Origin<'a>> {
        match &*self.0 {
            [history] => match &history.link {
                Link::Start(origin) => Some(origin),
                Link::Step(..) => None,
            },
            _ => None,
        }
    }

    /// The integer, if the value is a known integer.
    pub fn as_int(&self) -> Option<i64> {
        if let Some(Origin::Int(number)) = self.origin() { Some(*number) } else { None }
    }

    /// The boolean, if the value is a known boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Some(Origin::Bool(truth)) = self.origin() { Some(*truth) } else { None }
    }

    /// The string, if the value is a known string.
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

    /// The operations in reverse order, last one first.
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

    /// The method call that returned this value, and the name of the part if only a part was taken.
    pub fn result(&self) -> Option<(&Operation<'a>, Option<&'a str>)> {
        let mut operations = self.backwards();
        let last = operations.next()?;
        if last.arguments.is_some() {
            return Some((last, None));
        }
        let call = operations.next().filter(|call| call.arguments.is_some())?;
        Some((call, Some(last.name)))
    }

    /// The origin of this history.
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
