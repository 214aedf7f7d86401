//! Reads a module once, in the order of its statements, and notes what data pipelines go through.
//!
//! The reading is an abstract execution: variables hold [`Value`]s, histories of method calls since an origin. Both branches of an `if` are
//! read and joined; loop bodies are read once; functions of the module are read where they are defined, and their results are carried to
//! where they are called. What is not understood is `Anything`, of which no rule says anything: the reading errs towards silence.

mod environment;
mod expressions;
mod functions;
mod imports;
mod place;
mod statements;
mod value;

pub use imports::Imports;
pub use place::{Loop, Place, Surroundings};
pub use value::{Arguments, History, Operation, Origin, Value};

use environment::Environment;
use functions::Function;
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtClassDef, StmtFor, StmtFunctionDef};
use ruff_text_size::TextRange;
use std::collections::HashMap;
use std::rc::Rc;

/// Expressions and statements within one another that are read; deeper ones are not.
const DEEPEST: usize = 20_000;

/// What a module does, as far as rules ask.
#[derive(Debug, Default)]
pub struct Facts<'a> {
    /// What names stand for.
    pub imports: Imports<'a>,
    /// All calls, in the order of reading.
    pub calls: Vec<Call<'a>>,
    /// The value after every method call, in the order of reading; one call appears again where a function's result is used.
    pub pipelines: Vec<Value<'a>>,
    /// All `for` loops, with what they go through.
    pub loops: Vec<(&'a StmtFor, Value<'a>, Rc<Place<'a>>)>,
    /// What is assigned: the names and the expression.
    pub assignments: Vec<(Rc<Place<'a>>, &'a Expr)>,
    /// All functions.
    pub functions: Vec<&'a StmtFunctionDef>,
    /// Where a variable or item is read that is what a private engine returned, or a part of it.
    pub private_reads: Vec<(TextRange, Value<'a>)>,
    /// All classes.
    pub classes: Vec<&'a StmtClassDef>,
    /// Whether something was nested too deeply to be read.
    pub too_deep: bool,
    /// Whether values have more histories than are followed.
    pub too_many_ways: bool,
}

/// One call.
#[derive(Debug)]
pub struct Call<'a> {
    /// What is called.
    pub callee: Callee<'a>,
    /// The whole expression.
    pub expression: &'a ExprCall,
    /// What it is called with.
    pub arguments: Rc<Arguments<'a>>,
    /// Where.
    pub place: Rc<Place<'a>>,
}

/// What is called.
#[derive(Debug)]
pub enum Callee<'a> {
    /// A function or class by its full name, or by its bare name where it is not imported.
    Named(Rc<str>),
    /// A method of a value.
    Method(Value<'a>, &'a str),
    /// Something else.
    Other,
}

impl<'a> Call<'a> {
    /// The full name of what is called, unless it is a method of a value.
    pub fn name(&self) -> Option<&str> {
        if let Callee::Named(name) = &self.callee { Some(name) } else { None }
    }

    /// The method that is called on a value.
    pub fn method(&self) -> Option<&'a str> {
        if let Callee::Method(_, name) = &self.callee { Some(name) } else { None }
    }

    /// The last part of the name, whatever is before it.
    pub fn last_name(&self) -> Option<&str> {
        self.method().or_else(|| self.name().and_then(|name| name.rsplit('.').next()))
    }
}

/// Reads a module.
///
/// Values are followed for `most_effort` operations and steps back: ten kilobytes of functions that call one another could take
/// gigabytes otherwise.
pub fn read(body: &[Stmt], most_effort: usize) -> Facts<'_> {
    let mut reader = Reader { most_effort, ..Reader::default() };
    reader.statements(body);
    reader.facts
}

/// The state of the reading.
#[derive(Debug, Default)]
struct Reader<'a> {
    environment: Environment<'a>,
    functions: HashMap<String, Rc<Function<'a>>>,
    /// Those of the class that is read, by `self.name`.
    methods: HashMap<String, Rc<Function<'a>>>,
    place: Rc<Place<'a>>,
    returned: Vec<Value<'a>>,
    /// What private engines returned, by the names that it was given, whatever became of them since.
    once_private: HashMap<String, Value<'a>>,
    depth: usize,
    /// What following values has taken, and may take.
    effort: usize,
    most_effort: usize,
    facts: Facts<'a>,
}
