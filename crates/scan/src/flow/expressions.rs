//! Reads expressions and returns their values.

use super::imports::{dotted, root_name};
use super::statements::is_private;
use super::value::{Arguments, Operation, Origin, Value, name_of_item};
use super::{Call, Callee, DEEPEST, Reader};
use ruff_python_ast::visitor;
use ruff_python_ast::{self as ast, Expr, ExprCall, Number, Operator};
use ruff_text_size::{Ranged, TextRange};
use std::rc::Rc;

impl<'a> Reader<'a> {
    /// Reads an expression with the calls in it, and returns its value.
    pub(super) fn value_of(&mut self, expression: &'a Expr) -> Value<'a> {
        self.depth += 1;
        let value = if self.depth > DEEPEST {
            self.facts.too_deep = true;
            Value::anything()
        } else {
            self.value_within_depth(expression)
        };
        self.depth -= 1;
        value
    }

    fn value_within_depth(&mut self, expression: &'a Expr) -> Value<'a> {
        match expression {
            Expr::Name(_) => self.read(expression),
            Expr::Attribute(_) if root_name(expression).is_some() => self.read(expression),
            // For attributes of an expression without a name, skips to the innermost value at once. Looking for a name at each
            // attribute took quadratic time.
            Expr::Attribute(attribute) => {
                let mut innermost = &*attribute.value;
                while let Expr::Attribute(inner) = innermost {
                    innermost = &inner.value;
                }
                self.value_of(innermost);
                Value::anything()
            }
            Expr::Call(call) => self.call(call),
            Expr::NumberLiteral(ast::ExprNumberLiteral { value: Number::Int(number), .. }) => {
                number.as_i64().map_or_else(Value::anything, |number| Value::start(Origin::Int(number)))
            }
            Expr::BooleanLiteral(literal) => Value::start(Origin::Bool(literal.value)),
            Expr::StringLiteral(literal) => Value::start(Origin::Text(literal.value.to_str())),
            Expr::Dict(dictionary) => self.entries(dictionary),
            Expr::Tuple(tuple) => self.items(&tuple.elts),
            Expr::List(list) => self.items(&list.elts),
            Expr::BinOp(operation) => {
                let [left, right] =
                    [&operation.left, &operation.right].map(|side| self.value_of(side).as_int());
                let number = left.zip(right).and_then(|(left, right)| match operation.op {
                    Operator::Add => left.checked_add(right),
                    Operator::Sub => left.checked_sub(right),
                    Operator::Mult => left.checked_mul(right),
                    Operator::FloorDiv => left.checked_div_euclid(right),
                    Operator::Pow => left.checked_pow(u32::try_from(right).ok()?),
                    _ => None,
                });
                number.map_or_else(Value::anything, |number| Value::start(Origin::Int(number)))
            }
            Expr::If(choice) => {
                self.value_of(&choice.test);
                let branches = [self.value_of(&choice.body), self.value_of(&choice.orelse)];
                Value::any_of(&branches)
            }
            Expr::Named(named) => {
                let value = self.value_of(&named.value);
                self.bind(&named.target, Some(value.clone()));
                value
            }
            Expr::Await(wait) => self.value_of(&wait.value),
            Expr::Compare(compare) => {
                let sides = std::iter::once(&*compare.left).chain(&compare.comparators);
                for side in sides {
                    self.value_of(side);
                    if is_coin_flip(side) {
                        self.facts.coin_flips.push(Rc::clone(&self.place));
                    }
                }
                Value::anything()
            }
            Expr::Subscript(subscript) => {
                let value = self.value_of(&subscript.value);
                let key = self.value_of(&subscript.slice);
                if let (Some(Origin::Items(items)), Some(position)) = (value.origin(), key.as_int()) {
                    let item = usize::try_from(position).ok().and_then(|position| items.get(position));
                    return item.cloned().unwrap_or_else(Value::anything);
                }
                // Only an item is read, not the whole value.
                self.facts.private_reads.pop_if(|(range, _)| *range == subscript.value.range());
                let position = key.as_int().and_then(|position| usize::try_from(position).ok());
                let name = key.as_text().or_else(|| position.map(name_of_item)).unwrap_or("");
                let (range, place) = (subscript.slice.range(), Rc::clone(&self.place));
                let item = self.after(&value, &Operation { name, range, arguments: None, place });
                self.note_private(subscript.range(), &item);
                item
            }
            other => {
                visitor::walk_expr(self, other);
                Value::anything()
            }
        }
    }

    fn items(&mut self, elements: &'a [Expr]) -> Value<'a> {
        // Long tables of data are read for the calls in them, but their values are not kept.
        if elements.len() > 16 {
            for element in elements {
                self.value_of(element);
            }
            return Value::anything();
        }
        let items: Vec<Value<'a>> = elements.iter().map(|element| self.value_of(element)).collect();
        Value::start(Origin::Items(items.into()))
    }

    /// A dictionary; unknown if a key is no literal name.
    fn entries(&mut self, dictionary: &'a ast::ExprDict) -> Value<'a> {
        let mut entries = Vec::new();
        let mut is_known = dictionary.items.len() <= 16;
        for item in &dictionary.items {
            let value = self.value_of(&item.value);
            match item.key.as_ref().map(|key| (key, self.value_of(key).as_text())) {
                Some((_, Some(name))) => entries.push((name, &item.value, value)),
                _ => is_known = false,
            }
        }
        if is_known { Value::start(Origin::Entries(entries.into())) } else { Value::anything() }
    }

    fn read(&mut self, expression: &'a Expr) -> Value<'a> {
        let value = self.named(expression);
        self.note_private(expression.range(), &value);
        value
    }

    /// Records a place that reads a value which may come from a private engine.
    fn note_private(&mut self, range: TextRange, value: &Value<'a>) {
        let value = match value.origin() {
            Some(Origin::Variable(name)) => self.once_private.get(&**name),
            _ => Some(value),
        };
        if let Some(value) = value.filter(|value| value.histories().iter().any(|history| is_private(history)))
        {
            self.facts.private_reads.push((range, value.clone()));
        }
    }

    /// The value of `a.b.c`, where `a` is a name.
    fn named(&mut self, expression: &'a Expr) -> Value<'a> {
        let Some(root) = root_name(expression) else { return Value::anything() };
        let known = self.environment.get(root);
        if matches!(expression, Expr::Name(_)) {
            if let Some(value) = known {
                return value.clone();
            }
        } else if let Some(value) = self.environment.get(&dotted(expression, root)) {
            return value.clone();
        }
        let imported = match known {
            Some(value) => match value.origin() {
                Some(Origin::Imported(name)) => Some(&**name),
                _ => None,
            },
            None => self.facts.imports.get(root),
        };
        Value::start(match imported {
            Some(name) => Origin::Imported(dotted(expression, name).into()),
            None => Origin::Variable(dotted(expression, root).into()),
        })
    }

    fn call(&mut self, call: &'a ExprCall) -> Value<'a> {
        let receiver = match &*call.func {
            Expr::Attribute(attribute) => Some((self.value_of(&attribute.value), &attribute.attr)),
            _ => None,
        };
        let mut partial: Option<Rc<Arguments<'a>>> = None;
        let callee = match &receiver {
            Some((value, attribute)) => match value.origin() {
                Some(Origin::Imported(module)) => Callee::Named(format!("{module}.{attribute}").into()),
                _ => Callee::Method(value.clone(), attribute.as_str()),
            },
            None => match self.value_of(&call.func).origin() {
                Some(Origin::Imported(name) | Origin::Variable(name)) => Callee::Named(Rc::clone(name)),
                Some(Origin::Constructed(name, _, given)) if &**name == "functools.partial" => {
                    let function = given.positional.first().and_then(|(_, value)| value.origin());
                    partial = Some(Rc::clone(given));
                    match function {
                        Some(Origin::Imported(name) | Origin::Variable(name)) => {
                            Callee::Named(Rc::clone(name))
                        }
                        _ => Callee::Other,
                    }
                }
                _ => Callee::Other,
            },
        };
        let mut arguments = self.arguments(&call.arguments);
        if let Some(partial) = partial {
            // What was given before comes first, and later keywords replace earlier ones.
            let before = partial.positional.iter().skip(1).cloned();
            arguments.positional = before.chain(std::mem::take(&mut arguments.positional)).collect();
            arguments.keywords.extend(partial.keywords.iter().cloned());
            arguments.open |= partial.open;
        }
        let arguments = Rc::new(arguments);
        let value = match &callee {
            Callee::Named(name) => self.constructed(name, call, &arguments),
            Callee::Method(value, name) => {
                self.method_of_module(value, name, &arguments).unwrap_or_else(|| {
                    let range = receiver.as_ref().map_or(call.range(), |(_, attribute)| attribute.range());
                    let (name, given) = unwrap_apply(name, &arguments);
                    let place = Rc::clone(&self.place);
                    self.apply(value, &Operation { name, range, arguments: Some(given), place })
                })
            }
            Callee::Other => Value::anything(),
        };
        let place = Rc::clone(&self.place);
        self.facts.calls.push(Call { callee, expression: call, arguments, place });
        value
    }

    /// The result of calling a method of the current class on `self`.
    fn method_of_module(
        &mut self,
        value: &Value<'a>,
        name: &str,
        arguments: &Arguments<'a>,
    ) -> Option<Value<'a>> {
        match value.origin() {
            Some(Origin::Variable(variable)) if &**variable == "self" => {
                self.result_of(&format!("self.{name}"), arguments)
            }
            _ => None,
        }
    }

    /// The result of a call by name: the result of the module's own function, or a new value.
    fn constructed(
        &mut self,
        name: &Rc<str>,
        call: &'a ExprCall,
        arguments: &Rc<Arguments<'a>>,
    ) -> Value<'a> {
        if let Some(result) = self.result_of(name, arguments) {
            return result;
        }
        // Zipped data sets keep the order of the first one.
        if name.ends_with("Dataset.zip")
            && let Some((_, zipped)) = arguments.positional.first()
        {
            let first = match zipped.origin() {
                Some(Origin::Items(items)) => items.first().cloned(),
                _ => Some(zipped.clone()),
            };
            if let Some(first) = first {
                return first;
            }
        }
        let value = Value::start(Origin::Constructed(Rc::clone(name), call, Rc::clone(arguments)));
        if &**name != "webdataset.DataPipeline" {
            return value;
        }
        // The stages of the pipeline are the arguments, in order.
        arguments.positional.iter().fold(value, |value, (expression, stage)| match stage.origin() {
            Some(Origin::Constructed(name, stage, given)) if name.starts_with("webdataset.") => {
                let Expr::Attribute(attribute) = &*stage.func else { return value };
                let (name, range) = (attribute.attr.as_str(), expression.range());
                let place = Rc::clone(&self.place);
                self.apply(&value, &Operation { name, range, arguments: Some(Rc::clone(given)), place })
            }
            _ => value,
        })
    }

    /// Reads the arguments of a call.
    pub(super) fn arguments(&mut self, arguments: &'a ast::Arguments) -> Arguments<'a> {
        let mut read = Arguments::default();
        for argument in &arguments.args {
            if let Expr::Starred(starred) = argument {
                // A list whose items are known stands for them.
                match self.value_of(&starred.value).origin() {
                    Some(Origin::Items(items)) if !read.open => {
                        read.positional.extend(items.iter().map(|item| (argument, item.clone())));
                    }
                    _ => read.open = true,
                }
                continue;
            }
            let value = self.value_of(argument);
            if !read.open {
                read.positional.push((argument, value));
            }
        }
        for keyword in &arguments.keywords {
            let value = self.value_of(&keyword.value);
            match &keyword.arg {
                Some(name) => read.keywords.push((name.as_str(), &keyword.value, value)),
                None => match value.origin() {
                    Some(Origin::Entries(entries)) => read.keywords.extend(entries.iter().cloned()),
                    Some(Origin::Constructed(name, _, given)) if &**name == "dict" && !given.open => {
                        read.keywords.extend(given.keywords.iter().cloned());
                    }
                    _ => read.open = true,
                },
            }
        }
        read
    }
}

/// For `data.apply(tf.data.experimental.shuffle_and_repeat(100))`, returns the inner operation.
fn unwrap_apply<'a>(name: &'a str, arguments: &Rc<Arguments<'a>>) -> (&'a str, Rc<Arguments<'a>>) {
    let inner = (name == "apply").then(|| arguments.positional.first()).flatten();
    match inner.and_then(|(_, value)| value.origin()) {
        Some(Origin::Constructed(_, call, given)) => match &*call.func {
            Expr::Attribute(attribute) => (attribute.attr.as_str(), Rc::clone(given)),
            Expr::Name(name) => (name.id.as_str(), Rc::clone(given)),
            _ => (name, Rc::clone(arguments)),
        },
        _ => (name, Rc::clone(arguments)),
    }
}

/// Whether an expression draws a random number for each record: `rand(n)`, `rng.random(len(data))`.
fn is_coin_flip(expression: &Expr) -> bool {
    const DRAWS: [&str; 6] = ["rand", "rand_like", "random", "random_sample", "ranf", "uniform"];
    let Expr::Call(call) = expression else { return false };
    let name = match &*call.func {
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        Expr::Name(name) => name.id.as_str(),
        _ => return false,
    };
    DRAWS.contains(&name) && !call.arguments.is_empty()
}
