//! Finds calls of accountants that assume Poisson sampling.

use crate::flow::{Call, Callee};
use crate::module::Module;

/// All calls in a module of accountants that assume Poisson sampling.
pub fn poisson_accounting<'m, 'a>(module: &'m Module<'a>) -> impl Iterator<Item = &'m Call<'a>> {
    module.facts.calls.iter().filter(|call| is_poisson_accounting(call))
}

fn is_poisson_accounting(call: &Call) -> bool {
    let given = |names: &[&str]| call.arguments.keywords.iter().any(|(name, ..)| names.contains(name));
    match (&call.callee, call.last_name().unwrap_or("")) {
        // Opacus: accountant.step(noise_multiplier=..., sample_rate=...)
        (Callee::Method(..), "step") => given(&["sample_rate"]) && given(&["noise_multiplier"]),
        (_, "PoissonSampledDpEvent" | "PoissonSubsampledGaussianMechanism") => true,
        (
            Callee::Named(name),
            "compute_rdp" | "get_noise_multiplier" | "compute_dp_sgd_privacy" | "compute_noise",
        ) => ["opacus", "tensorflow_privacy", "dp_accounting", "compute_dp_sgd_privacy_lib"]
            .iter()
            .any(|package| name.starts_with(package)),
        // Libraries whose engine accounts for Poisson sampling but does not change the loader.
        (Callee::Named(name), "PrivacyEngine") => {
            name.starts_with("fastDP")
                || name.starts_with("private_transformers")
                // Opacus before 1.0: its engine was attached to an optimizer and knew only the loader's sizes.
                || (["opacus", "torchdp"].iter().any(|package| name.starts_with(package))
                    && (!call.arguments.positional.is_empty() || given(&["alphas", "batch_size", "sample_rate", "sample_size"])))
        }
        _ => false,
    }
}
