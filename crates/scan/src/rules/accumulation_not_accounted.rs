//! Gradients that are accumulated over several batches, where the accountant is told the rate of one of them.
//!
//! # Example
//! ```python
//! from opacus.accountants.utils import get_noise_multiplier
//! loader = DataLoader(data, batch_size=batch_size, shuffle=True)
//! sigma = get_noise_multiplier(target_epsilon=1, target_delta=1e-5, sample_rate=batch_size / len(data), epochs=3)
//! for i, batch in enumerate(loader):
//!     accumulate_clipped_gradients(model, batch)
//!     if (i + 1) % accumulation_steps == 0:
//!         optimizer.step()
//! ```
//!
//! The rule reports in private modules, if the step is under a condition with `%`, and the rate divides the same expression as the
//! loader's `batch_size`. A rate of the whole accumulated batch is right, and so is Opacus's `BatchMemoryManager`.

use super::accounting::poisson_accounting;
use super::data_loader::loaders;
use super::rate_of_short_batch::rates;
use super::{Found, Reach, Rule};
use crate::flow::Call;
use crate::module::Module;
use misdeal_results::Level;
use ruff_python_ast::{Expr, Operator};
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "accumulation-not-accounted",
    finds: "gradient accumulation that the accountant is not told of",
    why: "a step then has several batches, so the rate is larger than the accountant is told, and the epsilon is too small",
    fix: "account with the accumulated batch: sample_rate = batch_size * accumulation_steps / len(dataset)",
    reach: Reach::PrivateModules,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    let facts = &module.facts;
    let Some(step) = facts.calls.iter().find(|call| is_seldom(module, call)) else { return };
    let splits = facts
        .calls
        .iter()
        .any(|call| matches!(call.last_name(), Some("BatchMemoryManager" | "wrap_data_loader")));
    let accounts: Vec<&Call> = poisson_accounting(module).take(50).collect();
    if splits || accounts.is_empty() || accounts.iter().any(|call| multiplies_rate(call)) {
        return;
    }
    let text = |expression: &Expr| &module.source.text[expression.range()];
    let sizes: Vec<&str> =
        loaders(module).filter_map(|loader| Some(text(loader.arguments.get("batch_size", 1)?.0))).collect();
    for (expression, place) in rates(module) {
        let Expr::BinOp(division) = expression else { continue };
        let is_of_one = division.op == Operator::Div && sizes.contains(&text(&division.left));
        if is_of_one && module.graph().relates(place, &step.place) {
            found.add(expression.range(), "the rate is that of one batch, and a step has several");
            return;
        }
    }
}

/// Whether an accountant is given a multiple of a rate, which may be that of the accumulated batch.
fn multiplies_rate(call: &Call) -> bool {
    let rates =
        ["sample_rate", "sampling_probability", "q"].iter().filter_map(|name| call.arguments.named(name));
    let mut products = rates.filter_map(|(expression, _)| expression.as_bin_op_expr());
    products.any(|product| product.op == Operator::Mult)
}

/// Whether an optimizer makes a step only after several batches.
fn is_seldom(module: &Module, call: &Call) -> bool {
    let is_step = call.method() == Some("step") && super::trainings::learns(call);
    is_step
        && !call.place.around.loops.is_empty()
        && call.place.around.conditions.iter().any(|condition| {
            let text = &module.source.text[condition.range()];
            text.contains('%')
                && ["accum", "acc_", "_acc", "virtual", "n_acc"].iter().any(|word| text.contains(word))
        })
}
