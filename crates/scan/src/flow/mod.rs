//! Reads a module once, in order, and records the operations on data pipelines.
//!
//! The reading is an abstract execution. Variables hold [`Value`]s: histories of method calls since an origin. Both branches of an
//! `if` are read and joined. Loop bodies are read once. Functions of the module are read where they are defined, and calls use
//! their results. A value that the reading does not understand is `Anything`, which no rule reports.

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
pub use functions::Function;
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtClassDef, StmtFor, StmtFunctionDef};
use ruff_text_size::TextRange;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Deepest nesting of expressions and statements that is read.
const DEEPEST: usize = 20_000;

/// Facts about a module for the rules.
#[derive(Debug, Default)]
pub struct Facts<'a> {
    /// The imported names.
    pub imports: Imports<'a>,
    /// All calls, in the order of reading.
    pub calls: Vec<Call<'a>>,
    /// The value after every method call, in the order of reading.
    ///
    /// If a function's result is used, the calls in the function appear again.
    pub pipelines: Vec<Value<'a>>,
    /// All `for` loops, with the values that they iterate over.
    pub loops: Vec<(&'a StmtFor, Value<'a>, Rc<Place<'a>>)>,
    /// All assignments: the names and the expression.
    pub assignments: Vec<(Rc<Place<'a>>, &'a Expr)>,
    /// All functions.
    pub functions: Vec<&'a StmtFunctionDef>,
    /// Places that read the result of a private engine, or a part of it.
    pub private_reads: Vec<(TextRange, Value<'a>)>,
    /// Calls whose result is dropped, by their position.
    pub dropped: HashSet<TextRange>,
    /// All classes.
    pub classes: Vec<&'a StmtClassDef>,
    /// Places that compare random numbers with a rate (`rand(n) < q`), which samples by Poisson.
    pub coin_flips: Vec<Rc<Place<'a>>>,
    /// Whether some code is nested too deeply to be read.
    pub too_deep: bool,
    /// Whether following values reached the limit of effort.
    pub too_many_ways: bool,
}

/// A call.
#[derive(Debug)]
pub struct Call<'a> {
    /// The function, class or method that is called.
    pub callee: Callee<'a>,
    /// The whole call expression.
    pub expression: &'a ExprCall,
    /// The arguments.
    pub arguments: Rc<Arguments<'a>>,
    /// The statement that contains the call.
    pub place: Rc<Place<'a>>,
}

/// The function, class or method that is called.
#[derive(Debug)]
pub enum Callee<'a> {
    /// A function or class, by its full name. If it is not imported, by its bare name.
    Named(Rc<str>),
    /// A method of a value.
    Method(Value<'a>, &'a str),
    /// Any other expression.
    Other,
}

impl<'a> Call<'a> {
    /// The full name of the function or class; `None` for a method of a value.
    pub fn name(&self) -> Option<&str> {
        if let Callee::Named(name) = &self.callee { Some(name) } else { None }
    }

    /// The name of the method, if one is called on a value.
    pub fn method(&self) -> Option<&'a str> {
        if let Callee::Method(_, name) = &self.callee { Some(name) } else { None }
    }

    /// The last part of the called name.
    pub fn last_name(&self) -> Option<&str> {
        self.method().or_else(|| self.name().and_then(|name| name.rsplit('.').next()))
    }
}

/// Reads a module and returns the facts about it.
///
/// `most_effort` limits the operations and steps back in values' histories. Without a limit, ten kilobytes of functions that call
/// each other could need gigabytes.
///
/// `imported` are results of functions in other files, by their full names.
pub fn read<'a>(body: &'a [Stmt], most_effort: usize, imported: &Functions<'a>) -> Facts<'a> {
    read_functions(body, most_effort, imported).0
}

/// As [`read`], with the functions of the module.
pub fn read_functions<'a>(
    body: &'a [Stmt],
    most_effort: usize,
    imported: &Functions<'a>,
) -> (Facts<'a>, Functions<'a>) {
    let imported = imported.iter().map(|(name, function)| (name.clone(), Rc::clone(function))).collect();
    let mut reader = Reader { imported, most_effort, ..Reader::default() };
    reader.facts.imports.collect(body);
    reader.statements(body);
    (reader.facts, reader.functions)
}

/// Functions by name.
pub type Functions<'a> = HashMap<String, Rc<Function<'a>>>;

/// The state of the reading.
#[derive(Debug, Default)]
struct Reader<'a> {
    environment: Environment<'a>,
    functions: HashMap<String, Rc<Function<'a>>>,
    /// Functions of other files, by their full names.
    imported: Functions<'a>,
    /// The methods of the current class, by `self.name`.
    methods: HashMap<String, Rc<Function<'a>>>,
    place: Rc<Place<'a>>,
    returned: Vec<Value<'a>>,
    /// Results of private engines, by the names of the variables that hold them.
    once_private: HashMap<String, Value<'a>>,
    depth: usize,
    /// The effort spent on following values; `most_effort` is its limit.
    effort: usize,
    most_effort: usize,
    facts: Facts<'a>,
}
