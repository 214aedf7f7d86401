//! Finds calls of accountants that assume Poisson sampling.

use super::sampling::is_of_users;
use crate::flow::{Call, Callee};
use crate::module::Module;
use ruff_python_ast::{Expr, Number};
use ruff_text_size::Ranged;

/// All calls in a module of accountants that assume Poisson sampling of records.
///
/// Calls count only where noise is added and a part of the records is sampled.
pub fn poisson_accounting<'m, 'a>(module: &'m Module<'a>) -> impl Iterator<Item = &'m Call<'a>> {
    module.facts.calls.iter().filter(|call| {
        accounts_for_poisson(module, call)
            && !is_of_users(call, &module.source.text[call.expression.arguments.range()])
    })
}

/// Whether the noise multiplier is the literal 0.
pub fn is_without_noise(call: &Call) -> bool {
    let noise = call.arguments.named("noise_multiplier");
    noise.is_some_and(|(expression, _)| is_number(expression, 0.0))
}

/// Whether the sampling rate is the literal 1.
fn samples_everything(call: &Call) -> bool {
    let rates = ["q", "sample_rate", "sampling_probability", "sampling_prob"];
    let rate = rates.iter().find_map(|name| call.arguments.named(name));
    let first = (call.last_name() == Some("compute_rdp")).then(|| call.arguments.get("q", 0)).flatten();
    rate.or(first).is_some_and(|(expression, _)| is_number(expression, 1.0))
}

/// Whether an expression is this number.
pub fn is_number(expression: &Expr, number: f64) -> bool {
    let Expr::NumberLiteral(literal) = expression else { return false };
    match &literal.value {
        Number::Int(own) => own.as_i64().is_some_and(|own| (own as f64 - number).abs() < f64::EPSILON),
        Number::Float(own) => (own - number).abs() < f64::EPSILON,
        Number::Complex { .. } => false,
    }
}

/// Whether a call accounts for Poisson sampling of a part of the records, with noise.
pub fn accounts_for_poisson(module: &Module, call: &Call) -> bool {
    is_poisson_accounting(module, call) && !is_without_noise(call) && !samples_everything(call)
}

fn is_poisson_accounting(module: &Module, call: &Call) -> bool {
    if call.name().is_some_and(|name| module.neighbours.accounts.contains(name)) {
        return true;
    }
    let given = |names: &[&str]| call.arguments.keywords.iter().any(|(name, ..)| names.contains(name));
    let name = call.last_name().unwrap_or("");
    // What a function of the module accounts for is found in that function.
    if matches!(&call.callee, Callee::Named(own) if **own == *name)
        && module.facts.functions.iter().any(|function| function.name.as_str() == name)
    {
        return false;
    }
    match (&call.callee, name) {
        // Opacus: accountant.step(noise_multiplier=..., sample_rate=...)
        (Callee::Method(..), "step") => given(&["sample_rate"]) && given(&["noise_multiplier"]),
        (
            _,
            "PoissonSampledDpEvent"
            | "PoissonSubsampledGaussianMechanism"
            | "compute_rdp"
            | "compute_dp_sgd_privacy"
            | "compute_eps_poisson"
            | "compute_epsP"
            | "compute_mu_poisson"
            | "compute_muP"
            | "find_noise_multiplier"
            | "get_noise_multiplier",
        ) => true,
        (Callee::Named(name), "compute_noise" | "PRVAccountant") => {
            [
                "opacus",
                "tensorflow_privacy",
                "dp_accounting",
                "compute_noise_from_budget_lib",
                "prv_accountant",
            ]
            .iter()
            .any(|package| name.starts_with(package))
                && !call.arguments.keywords.is_empty()
        }
        // Engines that account for Poisson sampling but do not change the loader: fastDP, private-transformers, and Opacus before
        // 1.0, whose engine was attached to an optimizer and knew only the loader's sizes.
        (_, "PrivacyEngine") => given(&["alphas", "batch_size", "sample_rate", "sample_size"]),
        _ => false,
    }
}
