//! An epsilon that is reported for a model that was trained without noise.
//!
//! Opacus returns the optimizer that adds noise, so dropping the result of `make_private` trains without it. With a noise
//! multiplier of 0, or an ordinary optimizer beside TensorFlow Privacy's accounting, no noise is added either.
//!
//! # Example
//! ```python
//! engine = PrivacyEngine()
//! engine.make_private(module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.0, max_grad_norm=1.0)
//! ```
//!
//! The rule reports a dropped result in every case, and the others only if an epsilon is computed too.

use super::accounting::{is_without_noise, poisson_accounting};
use super::tensorflow_order::{has_keras_optimizer, is_fit};
use super::{Found, Reach, Rule};
use crate::flow::{Call, Callee, Origin};
use crate::libraries::is_make_private;
use crate::module::Module;
use crate::role::Role;
use misdeal_results::Level;
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};

pub const RULE: Rule = Rule {
    name: "epsilon-without-noise",
    finds: "an epsilon for a model that is trained without noise",
    why: "without noise nothing bounds what the model tells about a record, so the true epsilon is infinite",
    fix: "train with what the private engine returns: model, optimizer, train_loader = engine.make_private(...)",
    reach: Reach::Everywhere,
    level: Level::Error,
    check,
};

/// Largest number of engines that are followed.
const MOST: usize = 200;

fn check(module: &Module, found: &mut Found) {
    let engines = module.facts.calls.iter().filter(|call| call.last_name().is_some_and(is_make_private));
    for call in engines.take(MOST) {
        if !matches!(call.callee, Callee::Method(..)) {
            continue;
        }
        let is_given =
            call.arguments.named("optimizer").is_some() && Role::around(&call.place) != Role::Evaluation;
        if is_given && module.facts.dropped.contains(&call.expression.range()) {
            let edits = assignment(call).into_iter().collect();
            found.add_certain(call.expression.func.range(), "the private optimizer is dropped", edits);
        } else if is_given && is_without_noise(call) && reports_epsilon(module, call) {
            let what = "an epsilon is reported with a noise multiplier of 0";
            let fix = "give the noise multiplier that the epsilon is for, or report no epsilon".to_owned();
            found.add_with_fix(call.expression.func.range(), what, fix);
        }
    }
    keras_without_noise(module, found);
}

/// The change that keeps what the engine returns, under the names that it was given.
fn assignment(call: &Call) -> Option<(TextRange, String)> {
    let given = ["module", "optimizer", "data_loader"].map(|name| match call.arguments.named(name)?.0 {
        Expr::Name(name) => Some(name.id.as_str()),
        _ => None,
    });
    let [Some(module), Some(optimizer), Some(loader)] = given else { return None };
    let start = call.expression.range().start();
    Some((TextRange::empty(start), format!("{module}, {optimizer}, {loader} = ")))
}

/// Whether the engine of a call is asked for its epsilon.
fn reports_epsilon(module: &Module, call: &Call) -> bool {
    let Callee::Method(engine, _) = &call.callee else { return false };
    module.facts.calls.iter().any(|other| match &other.callee {
        Callee::Method(asked, "get_epsilon" | "get_privacy_spent") => {
            super::trainings::is_same(engine, asked)
                || matches!((engine.origin(), asked.origin()), (Some(Origin::Variable(engine)), Some(Origin::Variable(asked)))
                    if asked.starts_with(&**engine))
        }
        _ => false,
    })
}

/// Finds accounting of TensorFlow Privacy in a module that trains with an ordinary optimizer of Keras.
fn keras_without_noise(module: &Module, found: &mut Found) {
    if has_keras_optimizer(module) || !module.is_private || !module.facts.calls.iter().any(is_fit) {
        return;
    }
    let is_plain = |call: &Call| {
        let Some((_, optimizer)) = call.arguments.get("optimizer", 0) else { return false };
        call.method() == Some("compile")
            && (optimizer.as_text().is_some()
                || matches!(optimizer.origin(), Some(Origin::Constructed(name, ..)) if name.contains("keras.optimizers")))
    };
    let Some(compile) = module.facts.calls.iter().find(|call| is_plain(call)) else { return };
    let is_private = module.trainings().has_private;
    let is_of_keras = |call: &&Call| call.last_name() == Some("compute_dp_sgd_privacy");
    if let Some(call) = poisson_accounting(module).find(is_of_keras)
        && !is_private
        && module.graph().relates(&call.place, &compile.place)
    {
        let fix = "compile the model with a private optimizer (DPKerasSGDOptimizer), or report no epsilon"
            .to_owned();
        found.add_with_fix(
            call.expression.func.range(),
            "the model is compiled with an ordinary optimizer",
            fix,
        );
    }
}
