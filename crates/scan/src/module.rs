//! One parsed and read source, which is the input of the rules.

use crate::calls::CallGraph;
use crate::flow::{self, Facts, Functions};
use crate::libraries;
use crate::lookups::Lookups;
use crate::neighbours::Neighbours;
use crate::nesting;
use crate::rules::{Poisson, Trainings};
use crate::source::Source;
use crate::suppression::Suppressions;
use crate::weight::{BYTES_OF_EFFORT, MOST_BYTES};
use misdeal_core::guarded;
use ruff_python_ast::token::Tokens;
use ruff_python_ast::{ModModule, Suite};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_cells_unchecked, parse_unchecked};
use ruff_text_size::{Ranged, TextLen, TextRange, TextSize};
use std::cell::OnceCell;

/// The message for a source on which the parser panics.
///
/// Fuzzing found such notebooks: they are not valid Python (magic commands within brackets).
const FAILED: &str = "the parser failed on it";

/// The limit of effort for a source with this many bytes and this [`weight`](crate::weight::weight).
///
/// Effort counts operations and steps back in histories.
pub fn most_effort(bytes: usize, weight: usize) -> usize {
    let room = MOST_BYTES.saturating_sub(weight) / BYTES_OF_EFFORT;
    (400_000 + 8 * bytes).min(16_000_000).min(room)
}

/// A parsed source.
#[derive(Debug)]
pub struct Syntax {
    body: Suite,
    /// The comments that suppress rules.
    pub suppressions: Suppressions,
    /// Sentences that name the parts that could not be parsed; for a notebook, one for each cell.
    pub errors: Vec<String>,
}

/// A module as the rules see it.
#[derive(Debug)]
pub struct Module<'a> {
    /// The source.
    pub source: &'a Source,
    /// The facts about the module.
    pub facts: Facts<'a>,
    /// Lookup tables for the facts.
    pub lookups: Lookups<'a>,
    /// What the module imports from other files.
    pub neighbours: Neighbours<'a>,
    /// Where the module's models learn from batches, found on first use.
    trainings: OnceCell<Trainings<'a>>,
    /// What samples by Poisson, found on first use.
    poisson: OnceCell<Poisson<'a>>,
    /// Which functions call each other, found on first use.
    graph: OnceCell<CallGraph<'a>>,
    /// Whether every module counts as private training, whatever it does.
    pub is_assumed: bool,
    /// Whether the module uses differential privacy.
    pub is_private: bool,
    /// Whether the module is a unit test, in which no rule reports.
    pub is_test: bool,
}

/// Whether a line begins like a command of a notebook.
fn has_magic(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(['!', '%']))
}

impl Syntax {
    /// Parses a source.
    ///
    /// In a notebook, cells that are not Python are left out and named in `errors`. A file that is not Python is left out as a
    /// whole.
    pub fn parse(source: &Source) -> Syntax {
        let mut syntax =
            Syntax { body: Suite::new(), suppressions: Suppressions::default(), errors: Vec::new() };
        if nesting::is_too_deep(source.text.as_bytes()) {
            syntax.errors.push("nested too deeply".to_owned());
            return syntax;
        }
        match &source.cells {
            None => {
                let parse = |mode| {
                    guarded(|| parse_unchecked(&source.text, ParseOptions::from(mode)).try_into_module())
                };
                let mut parsed = parse(Mode::Module);
                // Exported notebooks keep their magics: `!pip install`, `%matplotlib inline`.
                if let Some(Some(module)) = &parsed
                    && !module.errors().is_empty()
                    && has_magic(&source.text)
                {
                    parsed = parse(Mode::Ipython);
                }
                match parsed {
                    Some(Some(parsed)) => {
                        syntax.take(source, TextRange::up_to(source.text.text_len()), parsed);
                    }
                    Some(None) => (),
                    None => syntax.errors.push(FAILED.to_owned()),
                }
            }
            Some(cells) => {
                for cell in cells {
                    let [start, end] = [cell.range.start, cell.range.end].map(|at| TextSize::new(at as u32));
                    let options = ParseOptions::from(Mode::Ipython);
                    let range = TextRange::new(start, end);
                    match guarded(|| parse_cells_unchecked(&source.text, [range], &options)) {
                        Some(parsed) => syntax.take(source, range, parsed),
                        None => syntax.errors.push(format!("cell {}: {FAILED}", cell.number)),
                    }
                }
            }
        }
        syntax
    }

    fn take(&mut self, source: &Source, range: TextRange, parsed: Parsed<ModModule>) {
        if let Some(error) = parsed.errors().first() {
            let place = source.place(error.range().start().to_usize());
            self.errors.push(format!("{place}: {}", error.error));
            return;
        }
        if source.text[range].contains("misdeal:") {
            let tokens: &Tokens = parsed.tokens();
            self.suppressions.read(source, tokens);
        }
        let mut body = parsed.into_syntax().body;
        if self.body.is_empty() {
            // Moved, not copied, because a large file needs most of its memory here.
            self.body = body;
        } else {
            self.body.append(&mut body);
        }
    }

    /// Whether there was code, but none of it could be parsed.
    pub fn is_nothing(&self) -> bool {
        self.body.is_empty() && !self.errors.is_empty()
    }

    /// Reads the parsed code.
    pub fn read<'a>(
        &'a self,
        source: &'a Source,
        most_effort: usize,
        neighbours: Neighbours<'a>,
    ) -> Module<'a> {
        let facts = flow::read(&self.body, most_effort, &neighbours.functions);
        let mut module = Module { neighbours, ..Module::of(source, facts) };
        let accounts = &module.neighbours.accounts;
        module.is_private |=
            module.facts.calls.iter().any(|call| call.name().is_some_and(|name| accounts.contains(name)));
        module
    }

    /// Reads the parsed code as another module's neighbour: with its functions.
    pub fn read_functions<'a>(
        &'a self,
        source: &'a Source,
        most_effort: usize,
    ) -> (Module<'a>, Functions<'a>) {
        let (facts, functions) = flow::read_functions(&self.body, most_effort, &Functions::new());
        (Module::of(source, facts), functions)
    }

    /// Leaks the syntax tree, which is too deep to be dropped by recursion.
    pub fn forget(self) {
        std::mem::forget(self.body);
    }
}

impl<'a> Module<'a> {
    fn of(source: &'a Source, facts: Facts<'a>) -> Self {
        let is_private = libraries::is_private(&facts);
        let is_test = libraries::is_test(&facts);
        Module {
            source,
            facts,
            lookups: Lookups::default(),
            neighbours: Neighbours::default(),
            trainings: OnceCell::new(),
            poisson: OnceCell::new(),
            graph: OnceCell::new(),
            is_assumed: false,
            is_private,
            is_test,
        }
    }

    /// Where the module's models learn from batches.
    pub fn trainings(&self) -> &Trainings<'a> {
        self.trainings.get_or_init(|| Trainings::of(self))
    }

    /// What samples by Poisson in the module.
    pub fn poisson(&self) -> &Poisson<'a> {
        self.poisson.get_or_init(|| Poisson::of(self))
    }

    /// Which functions of the module call each other.
    pub fn graph(&self) -> &CallGraph<'a> {
        self.graph.get_or_init(|| CallGraph::of(&self.facts))
    }
}
