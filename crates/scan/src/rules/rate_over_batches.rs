//! A sampling rate of `batch_size / len(loader)`: the length of a loader is its number of batches, not of records.
//!
//! # Example
//! ```python
//! from opacus.accountants.utils import get_noise_multiplier
//! loader = DataLoader(train_data, batch_size=batch_size, shuffle=True)
//! sample_rate = batch_size / len(loader)
//! ```
//!
//! The rule reports in private modules, if the length is that of a known loader or of a variable whose name ends in `loader`.

use super::data_loader;
use super::rate_of_short_batch::rates;
use super::{Found, Reach, Rule};
use crate::module::Module;
use crate::role::words;
use misdeal_results::Level;
use ruff_python_ast::{Expr, ExprCall, Operator};
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "rate-over-batches",
    finds: "a sampling rate of batch_size / len(loader)",
    why: "the length of a loader counts batches, so the rate is wrong by a factor of the batch size, and so is the epsilon",
    fix: "divide by the number of records: sample_rate = batch_size / len(loader.dataset)",
    reach: Reach::PrivateModules,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    for (expression, _) in rates(module) {
        let Expr::BinOp(division) = expression else { continue };
        let Expr::Call(length) = &*division.right else { continue };
        if division.op == Operator::Div && speaks_of_batch(&division.left) && counts_batches(module, length) {
            let measured = length.arguments.args.first().map(Ranged::range);
            let text = measured.map(|range| (range, format!("{}.dataset", &module.source.text[range])));
            found.add_certain(
                length.range(),
                "the rate is divided by the number of batches",
                text.into_iter().collect(),
            );
        }
    }
}

fn speaks_of_batch(expression: &Expr) -> bool {
    let name = match expression {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        Expr::NumberLiteral(_) => return !super::accounting::is_number(expression, 1.0),
        _ => return false,
    };
    let words = words(name);
    words.iter().any(|word| word == "batch" || word == "batchsize" || word == "bs" || word == "lot")
}

fn counts_batches(module: &Module, length: &ExprCall) -> bool {
    if !matches!(&*length.func, Expr::Name(name) if name.id.as_str() == "len") {
        return false;
    }
    let Some(measured) = length.arguments.args.first() else { return false };
    let call =
        module.lookups.length_at(&module.facts, length.range()).map(|index| &module.facts.calls[index]);
    let is_loader = call.is_some_and(|call| {
        call.arguments.positional.first().is_some_and(|(_, value)| data_loader::of_value(value).is_some())
    });
    let name = match measured {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => "",
    };
    is_loader || name.to_ascii_lowercase().ends_with("loader")
}
