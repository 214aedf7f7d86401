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
    const PARTS: [&str; 10] = [
        "DPOptimizer",
        "PrivacyEngine",
        "compute_dp_sgd_privacy",
        "compute_rdp",
        "dp_optimizer",
        "gdp_accountant",
        "get_privacy_spent",
        "prv_accountant",
        "rdp_accountant",
        "tensorflow_privacy",
    ];
    PRIVACY.iter().any(|package| facts.imports.uses(package))
        || facts.imports.modules().any(|module| module.split('.').any(|part| PARTS.contains(&part)))
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
        || ((name.starts_with("DP") || name.starts_with("VectorizedDP")) && name.contains("Optimizer"))
        || matches!(name, "DPModel" | "make_keras_optimizer_class" | "make_dp_model_class")
}

/// Whether a name is a private optimizer or model of TensorFlow Privacy.
pub fn is_keras_optimizer(name: &str) -> bool {
    is_private_optimizer(name)
        && !is_make_private(name)
        && !matches!(name, "differentially_private_aggregate" | "dpsgd" | "DPOptimizer")
}

/// Whether a name is a method of Opacus's engine that makes training private.
pub fn is_make_private(name: &str) -> bool {
    matches!(name, "make_private" | "make_private_with_epsilon")
}

/// Whether a module uses a library with data pipelines.
pub fn has_pipelines(facts: &Facts) -> bool {
    PIPELINES.iter().any(|package| facts.imports.uses(package) || facts.imports.has_star_of(package))
}

/// Whether the last part of a name hints at Poisson sampling.
///
/// Names of accountants do not count: they state an assumption, not what the program does.
pub fn is_hint(name: &str) -> bool {
    let name = name.rsplit('.').next().unwrap_or(name);
    let lower = name.to_ascii_lowercase();
    matches!(name, "DPDataLoader" | "bernoulli" | "binomial" | "IIDBatchSampler")
        || name.contains("UniformWithReplacementSampler")
        || (lower.contains("poisson") && !ASSUMPTIONS.iter().any(|word| lower.contains(word)))
}

/// Parts of names that belong to an accountant's model of Poisson sampling.
const ASSUMPTIONS: [&str; 18] = [
    "account",
    "amplif",
    "budget",
    "compute",
    "delta",
    "eps",
    "event",
    "gaussian",
    "loss",
    "mechanism",
    "mu_",
    "nll",
    "noise",
    "poisson_mu",
    "privacy",
    "rdp",
    "sigma",
    "subsampled",
];
