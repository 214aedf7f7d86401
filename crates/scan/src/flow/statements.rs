//! Reads statements in order.

use super::functions::is_gradient_switch;
use super::imports::{dotted, root_name};
use super::value::{History, Operation, Origin, Value, name_of_item};
use super::{DEEPEST, Loop, Place, Reader, Surroundings};
use crate::libraries::is_make_private;
use crate::role::Role;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{ExceptHandler, Expr, Stmt};
use ruff_text_size::Ranged;
use std::rc::Rc;

impl<'a> Visitor<'a> for Reader<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.statement(statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.value_of(expression);
    }
}

impl<'a> Reader<'a> {
    pub(super) fn statements(&mut self, body: &'a [Stmt]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Stmt) {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.facts.too_deep = true;
        } else if self.may_go_on() {
            self.statement_within_depth(statement);
        }
        self.depth -= 1;
    }

    fn statement_within_depth(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Assign(assign) => self.assign(&assign.targets, &assign.value),
            Stmt::AnnAssign(assign) => match &assign.value {
                Some(value) => self.assign(std::slice::from_ref(&*assign.target), value),
                None => self.bind(&assign.target, None),
            },
            Stmt::AugAssign(assign) => {
                self.value_of(&assign.value);
                self.bind(&assign.target, None);
            }
            Stmt::For(repeat) => {
                let sequence = self.value_of(&repeat.iter);
                self.facts.loops.push((repeat, sequence, Rc::clone(&self.place)));
                let mut around = Surroundings::clone(&self.place.around);
                around.loops.push(Loop::For(repeat));
                self.maybe(|reader| {
                    reader.bind(&repeat.target, None);
                    reader.within(around, |reader| reader.statements(&repeat.body));
                });
                self.statements(&repeat.orelse);
            }
            Stmt::While(repeat) => {
                self.value_of(&repeat.test);
                let mut around = Surroundings::clone(&self.place.around);
                around.loops.push(Loop::While);
                self.maybe(|reader| reader.within(around, |reader| reader.statements(&repeat.body)));
                self.statements(&repeat.orelse);
            }
            Stmt::If(choice) => {
                self.value_of(&choice.test);
                let mark = self.environment.mark();
                let mut around = Surroundings::clone(&self.place.around);
                around.conditions.push(&choice.test);
                self.within(around, |reader| reader.statements(&choice.body));
                let mut branches = vec![self.environment.take_back(mark)];
                for clause in &choice.elif_else_clauses {
                    if let Some(test) = &clause.test {
                        self.value_of(test);
                    }
                    self.statements(&clause.body);
                    branches.push(self.environment.take_back(mark));
                }
                if choice.elif_else_clauses.last().is_none_or(|clause| clause.test.is_some()) {
                    branches.push(super::environment::Changes::new());
                }
                // Rules are about training, so its branch is taken: `if train: data = data.repeat()`.
                match Role::of_condition(&choice.test) {
                    Role::Training => branches.truncate(1),
                    Role::Evaluation if branches.len() > 1 => drop(branches.remove(0)),
                    _ => {}
                }
                self.environment.join(&branches);
            }
            Stmt::With(block) => {
                let mut around = Surroundings::clone(&self.place.around);
                for item in &block.items {
                    let value = self.value_of(&item.context_expr);
                    around.without_gradients |= is_gradient_switch(&item.context_expr);
                    if let Some(target) = &item.optional_vars {
                        self.bind(target, Some(value));
                    }
                }
                self.within(around, |reader| reader.statements(&block.body));
            }
            Stmt::Try(attempt) => {
                self.statements(&attempt.body);
                for ExceptHandler::ExceptHandler(handler) in &attempt.handlers {
                    self.maybe(|reader| reader.statements(&handler.body));
                }
                self.statements(&attempt.orelse);
                self.statements(&attempt.finalbody);
            }
            Stmt::Match(choice) => {
                self.value_of(&choice.subject);
                for case in &choice.cases {
                    self.maybe(|reader| reader.statements(&case.body));
                }
            }
            Stmt::FunctionDef(definition) => self.function(definition),
            Stmt::ClassDef(definition) => self.class(definition),
            Stmt::Return(end) => {
                let value = end.value.as_ref().map(|value| self.value_of(value));
                self.returned.extend(value);
            }
            Stmt::Import(import) => self.facts.imports.import(import),
            Stmt::ImportFrom(import) => self.facts.imports.import_from(import),
            Stmt::Delete(delete) => delete.targets.iter().for_each(|target| self.bind(target, None)),
            Stmt::Expr(statement) => {
                self.facts.dropped.insert(statement.value.range());
                self.value_of(&statement.value);
            }
            other => visitor::walk_stmt(self, other),
        }
    }

    /// Reads code that may or may not run.
    fn maybe(&mut self, read: impl FnOnce(&mut Self)) {
        let mark = self.environment.mark();
        read(self);
        let changes = self.environment.take_back(mark);
        self.environment.join(&[changes, super::environment::Changes::new()]);
    }

    /// Reads code in other surroundings.
    pub(super) fn within(&mut self, around: Surroundings<'a>, read: impl FnOnce(&mut Self)) {
        let place = Rc::new(Place { around: Rc::new(around), ..Place::default() });
        let outside = std::mem::replace(&mut self.place, place);
        read(self);
        self.place = outside;
    }

    fn assign(&mut self, targets: &'a [Expr], value: &'a Expr) {
        let mut names = Vec::new();
        for target in targets {
            collect_names(target, &mut names);
        }
        let around = Rc::clone(&self.place.around);
        let place = Place { targets: names, around, ..Place::default() };
        let outside = std::mem::replace(&mut self.place, Rc::new(place));
        self.facts.assignments.push((Rc::clone(&self.place), value));
        let value = self.value_of(value);
        self.place = outside;
        for target in targets {
            self.bind(target, Some(value.clone()));
        }
    }

    /// Assigns a value to a target; `None` means unknown.
    pub(super) fn bind(&mut self, target: &'a Expr, value: Option<Value<'a>>) {
        match target {
            Expr::Name(_) | Expr::Attribute(_) => {
                let Some(root) = root_name(target) else { return };
                let (name, value) = (dotted(target, root), value.unwrap_or_else(Value::anything));
                if value.histories().iter().any(|history| is_private(history)) {
                    self.once_private.insert(name.clone(), value.clone());
                }
                // An assigned name no longer refers to an import, even if its value is unknown.
                self.environment.set(&name, Some(value));
            }
            Expr::Tuple(_) | Expr::List(_) => {
                let elements = match target {
                    Expr::Tuple(tuple) => &tuple.elts,
                    Expr::List(list) => &list.elts,
                    _ => return,
                };
                for (position, element) in elements.iter().enumerate() {
                    let item = match value.as_ref().and_then(Value::origin) {
                        Some(Origin::Items(items)) if items.len() == elements.len() => {
                            Some(items[position].clone())
                        }
                        // Parts of one result have its origin.
                        Some(origin @ Origin::Constructed(..)) => Some(Value::start(origin.clone())),
                        _ => value.as_ref().filter(|value| value.always(is_private_result)).map(|value| {
                            let (range, place) = (element.range(), Rc::clone(&self.place));
                            let name = name_of_item(position);
                            self.after(value, &Operation { name, range, arguments: None, place })
                        }),
                    };
                    self.bind(element, item);
                }
            }
            Expr::Starred(starred) => self.bind(&starred.value, None),
            other => {
                self.value_of(other);
            }
        }
    }
}

/// Whether a value is the result of a private engine, or a part of it.
pub(super) fn is_private(history: &History) -> bool {
    history.result().is_some_and(|(call, _)| is_make_private(call.name))
}

/// Whether a value is the whole result of a private engine.
fn is_private_result(history: &History) -> bool {
    history.result().is_some_and(|(call, part)| part.is_none() && is_make_private(call.name))
}

/// Collects the last part of each name in a target.
fn collect_names<'a>(target: &'a Expr, names: &mut Vec<&'a str>) {
    match target {
        Expr::Name(name) => names.push(name.id.as_str()),
        Expr::Attribute(attribute) => names.push(attribute.attr.as_str()),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|element| collect_names(element, names)),
        Expr::List(list) => list.elts.iter().for_each(|element| collect_names(element, names)),
        Expr::Starred(starred) => collect_names(&starred.value, names),
        Expr::Subscript(subscript) => {
            collect_names(&subscript.value, names);
            if let Expr::StringLiteral(key) = &*subscript.slice {
                names.push(key.value.to_str());
            }
        }
        _ => {}
    }
}
