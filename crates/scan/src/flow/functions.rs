//! Functions of the module, and their effect on their arguments.

use super::value::{Arguments, History, Operation, Origin, Value};
use super::{Reader, Surroundings};
use ruff_python_ast::{Expr, StmtClassDef, StmtFunctionDef};
use std::collections::HashMap;
use std::rc::Rc;

/// A function's result, as an expression of its parameters.
#[derive(Debug)]
pub struct Function<'a> {
    parameters: Vec<&'a str>,
    result: Value<'a>,
}

impl<'a> Reader<'a> {
    /// Reads a function at its definition, where its parameters are unknown.
    pub(super) fn function(&mut self, definition: &'a StmtFunctionDef) {
        let mut around = Surroundings::clone(&self.place.around);
        for decorator in &definition.decorator_list {
            self.value_of(&decorator.expression);
            around.without_gradients |= is_gradient_switch(&decorator.expression);
        }
        let name = definition.name.as_str();
        around.functions.push(name);
        self.facts.functions.push(definition);
        around.loops.clear();
        around.conditions.clear();
        let mut parameters: Vec<&'a str> = Vec::new();
        for parameter in &definition.parameters {
            if let Some(default) = parameter.default() {
                self.value_of(default);
            }
            parameters.push(parameter.name().as_str());
        }
        let mark = self.environment.mark();
        for parameter in &parameters {
            self.environment.set(parameter, Some(Value::start(Origin::Variable(Rc::from(*parameter)))));
        }
        let returned_before = std::mem::take(&mut self.returned);
        self.within(around, |reader| reader.statements(&definition.body));
        let returned = std::mem::replace(&mut self.returned, returned_before);
        let changes = self.environment.take_back(mark);
        let is_method = !self.place.around.classes.is_empty() && self.place.around.functions.is_empty();
        if is_method {
            // Values that a method assigns to `self` are visible to the methods after it.
            for (name, value) in changes.into_iter().filter(|(name, _)| name.starts_with("self.")) {
                self.environment.set(&name, value);
            }
            parameters.retain(|parameter| *parameter != "self");
        }
        let key = if is_method { format!("self.{name}") } else { name.to_owned() };
        self.environment.set(&key, None);
        let result = if returned.is_empty() { Value::anything() } else { Value::any_of(&returned) };
        let known = if is_method { &mut self.methods } else { &mut self.functions };
        known.insert(key, Rc::new(Function { parameters, result }));
    }

    /// Reads a class, whose methods share `self`.
    pub(super) fn class(&mut self, definition: &'a StmtClassDef) {
        self.facts.classes.push(definition);
        let mut around = Surroundings::clone(&self.place.around);
        around.classes.push(definition.name.as_str());
        around.loops.clear();
        around.conditions.clear();
        around.functions.clear();
        if let Some(arguments) = &definition.arguments {
            self.arguments(arguments);
        }
        let mark = self.environment.mark();
        self.within(around, |reader| reader.statements(&definition.body));
        self.environment.take_back(mark);
        // A new map, because clearing an old one takes time proportional to its largest size, once per class.
        self.methods = HashMap::new();
        self.environment.set(definition.name.as_str(), None);
    }

    /// The result of calling a function of the module; `None` if it is unknown.
    pub(super) fn result_of(&mut self, name: &str, arguments: &Arguments<'a>) -> Option<Value<'a>> {
        let known = if name.starts_with("self.") { &self.methods } else { &self.functions };
        let known = known.get(name);
        let is_imported = known.is_none();
        let function = Rc::clone(known.or_else(|| self.imported.get(name))?);
        let mut results = Vec::new();
        for history in function.result.histories() {
            let value = match history.origin() {
                Origin::Variable(variable) => {
                    let position = function.parameters.iter().position(|parameter| **parameter == **variable);
                    let given = position.and_then(|position| arguments.get(variable, position));
                    given.map_or_else(Value::anything, |(_, value)| value.clone())
                }
                origin => Value::start(origin.clone()),
            };
            results.push(self.replay(value, history, is_imported));
        }
        Some(Value::any_of(&results))
    }

    /// Applies the operations in a history to a value.
    ///
    /// Operations of another file are followed, but are no places of this module.
    fn replay(&mut self, value: Value<'a>, history: &History<'a>, is_imported: bool) -> Value<'a> {
        let operations: Vec<&Operation<'a>> = history.backwards().collect();
        operations.into_iter().rev().fold(value, |value, operation| {
            if is_imported { self.after(&value, operation) } else { self.apply(&value, operation) }
        })
    }

    /// The value after an operation; unknown once the effort exceeds `most_effort`.
    pub(super) fn after(&mut self, value: &Value<'a>, operation: &Operation<'a>) -> Value<'a> {
        self.effort += value.effort();
        if self.may_go_on() { value.then(operation) } else { Value::anything() }
    }

    /// Whether the effort is within its limit. If not, records this in the facts.
    pub(super) fn may_go_on(&mut self) -> bool {
        self.facts.too_many_ways |= self.effort + self.environment.joined > self.most_effort;
        !self.facts.too_many_ways
    }

    /// Records an operation and returns the value after it.
    pub(super) fn apply(&mut self, value: &Value<'a>, operation: &Operation<'a>) -> Value<'a> {
        let value = self.after(value, operation);
        if operation.arguments.is_some() {
            self.facts.pipelines.push(value.clone());
        }
        value
    }
}

/// Whether an expression is `torch.no_grad()` or a similar context.
pub fn is_gradient_switch(expression: &Expr) -> bool {
    match expression {
        Expr::Call(call) => is_gradient_switch(&call.func),
        Expr::Attribute(attribute) => matches!(attribute.attr.as_str(), "no_grad" | "inference_mode"),
        Expr::Name(name) => matches!(name.id.as_str(), "no_grad" | "inference_mode"),
        _ => false,
    }
}
