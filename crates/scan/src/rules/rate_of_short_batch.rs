//! A sampling rate of `1 / len(loader)` for a `DataLoader` that keeps its short last batch (`drop_last` is not true).
//!
//! # Example
//! ```python
//! from opacus.accountants import RDPAccountant
//! loader = DataLoader(train_data, batch_size=64, shuffle=True)
//! sample_rate = 1 / len(loader)
//! ```
//!
//! The rule reports in private modules, if the loader is known and nothing hints at Poisson sampling.

use super::data_loader;
use super::{Found, Reach, Rule};
use crate::flow::Place;
use crate::module::Module;
use crate::role::words;
use misdeal_results::Level;
use ruff_python_ast::{Expr, ExprCall, Number, Operator};
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "rate-of-short-batch",
    finds: "a sampling rate of 1 / len(loader) where the loader keeps a short last batch",
    why: "the rate is below that of a full batch, so the epsilon that is accounted for is too small",
    fix: "account with batch_size / len(dataset), or set drop_last=True",
    reach: Reach::PrivateModules,
    level: Level::Note,
    check,
};

fn check(module: &Module, found: &mut Found) {
    for (expression, place) in rates(module) {
        if let Some(length) = one_over_length(expression)
            && keeps_short_batch(module, length)
            && !module.poisson().is_near(place)
        {
            found.add(expression.range(), "the rate is 1 / len(loader) with a short last batch");
        }
    }
}

/// The sampling rates of a module: what is assigned to such a name, or given for one.
pub fn rates<'m, 'a>(module: &'m Module<'a>) -> impl Iterator<Item = (&'a Expr, &'m Place<'a>)> {
    let facts = &module.facts;
    let assigned = facts.assignments.iter();
    let assigned = assigned.filter(|(place, _)| place.targets.iter().any(|name| is_rate(name)));
    let given = facts.calls.iter().flat_map(|call| {
        let keywords = call.arguments.keywords.iter().filter(|(name, ..)| is_rate(name));
        keywords.map(|(_, expression, _)| (*expression, &*call.place))
    });
    assigned.map(|(place, expression)| (*expression, &**place)).chain(given)
}

fn is_rate(name: &str) -> bool {
    let words = words(name);
    let has = |choices: [&str; 3]| choices.iter().any(|choice| words.iter().any(|word| word == choice));
    name == "q" || (has(["sample", "sampling", "subsampling"]) && has(["rate", "probability", "prob"]))
}

/// The call of `len`, if the expression is `1 / len(x)`.
fn one_over_length(expression: &Expr) -> Option<&ExprCall> {
    let Expr::BinOp(division) = expression else { return None };
    let is_one = match &*division.left {
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(number) => number.as_i64() == Some(1),
            Number::Float(number) => (*number - 1.0).abs() < f64::EPSILON,
            Number::Complex { .. } => false,
        },
        _ => false,
    };
    match &*division.right {
        Expr::Call(call) if is_one && division.op == Operator::Div => Some(call),
        _ => None,
    }
}

/// Whether a call takes the length of a loader that does not drop its last batch.
fn keeps_short_batch(module: &Module, length: &ExprCall) -> bool {
    let call = module.lookups.length_at(&module.facts, length.range());
    let call = call.map(|index| &module.facts.calls[index]);
    let loader = call.and_then(|call| data_loader::of_value(&call.arguments.positional.first()?.1));
    loader.is_some_and(|arguments| {
        !arguments.open
            && arguments.get("drop_last", 8).is_none_or(|(_, value)| value.as_bool() == Some(false))
    })
}
