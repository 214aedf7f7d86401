//! Which libraries a module uses, as far as rules need to know.

use crate::flow::Facts;

/// Packages for differential privacy: a module that imports one trains or accounts for private models.
pub const PRIVACY: [&str; 12] = [
    "autodp",
    "dp_accounting",
    "dp_transformers",
    "fastDP",
    "jax_privacy",
    "objax.privacy",
    "opacus",
    "private_transformers",
    "prv_accountant",
    "pyvacy",
    "tensorflow_privacy",
    "torchdp",
];

/// Packages whose data pipelines have the operations `batch` and `shuffle`.
const PIPELINES: [&str; 12] = [
    "datasets",
    "flax",
    "grain",
    "jax",
    "keras",
    "mindspore",
    "tensorflow",
    "tensorflow_datasets",
    "tfds",
    "torch",
    "torchdata",
    "webdataset",
];

/// Whether a module uses differential privacy: it imports such a library or calls a private optimizer.
pub fn is_private(facts: &Facts) -> bool {
    PRIVACY.iter().any(|package| facts.imports.uses(package))
        || facts.imports.modules().any(|module| module.split('.').any(|part| part == "tensorflow_privacy"))
        || facts.calls.iter().any(|call| is_private_optimizer(call.last_name().unwrap_or("")))
}

/// Whether a module imports a framework for unit tests. Such modules release no model.
pub fn is_test(facts: &Facts) -> bool {
    ["absl.testing", "hypothesis", "pytest", "torch.testing", "unittest"]
        .iter()
        .any(|package| facts.imports.uses(package))
}

/// Whether a name is a private optimizer or aggregator of Optax or TensorFlow Privacy.
pub fn is_private_optimizer(name: &str) -> bool {
    is_make_private(name)
        || matches!(name, "differentially_private_aggregate" | "dpsgd")
        || (name.starts_with("DP") && name.ends_with("Optimizer"))
}

/// Whether a name is a method of Opacus's engine that makes training private.
pub fn is_make_private(name: &str) -> bool {
    matches!(name, "make_private" | "make_private_with_epsilon")
}

/// Whether a module uses a library with data pipelines.
pub fn has_pipelines(facts: &Facts) -> bool {
    PIPELINES.iter().any(|package| facts.imports.uses(package) || facts.imports.has_star_of(package))
}

/// Whether a module hints at Poisson sampling, by a sampler, a loader of Opacus, or a function with such a name.
///
/// Names of accounting events do not count: they state an assumption, not what the program does.
pub fn samples_by_poisson(facts: &Facts) -> bool {
    let calls = facts.calls.iter().any(|call| match call.last_name() {
        Some(name) if is_make_private(name) => {
            let given = call.arguments.named("poisson_sampling").and_then(|(_, value)| value.as_bool());
            given != Some(false)
        }
        name => {
            name.is_some_and(is_hint)
                || call.arguments.keywords.iter().any(|(name, _, value)| {
                    (*name != "poisson_sampling" && is_hint(name)) || value.as_text().is_some_and(is_hint)
                })
        }
    });
    calls
        || facts.imports.modules().any(is_hint)
        || facts.functions.iter().any(|function| is_hint(function.name.as_str()))
        || facts.classes.iter().any(|class| is_hint(class.name.as_str()))
}

/// Whether the last part of a name hints at Poisson sampling.
pub fn is_hint(name: &str) -> bool {
    let name = name.rsplit('.').next().unwrap_or(name);
    matches!(name, "DPDataLoader" | "bernoulli" | "binomial" | "IIDBatchSampler")
        || name.contains("UniformWithReplacementSampler")
        || (name.to_ascii_lowercase().contains("poisson")
            && !name.ends_with("DpEvent")
            && !is_assumption(name))
}

/// Whether a name belongs to an accountant's model of Poisson sampling.
fn is_assumption(name: &str) -> bool {
    name.contains("PoissonSubsampled") || name == "poisson_sampling"
}
