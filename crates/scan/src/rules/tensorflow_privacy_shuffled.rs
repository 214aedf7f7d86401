//! TensorFlow Privacy's accounting in a module whose batches are shuffled.
//!
//! The accounting is `compute_dp_sgd_privacy`, `compute_rdp` or `PoissonSampledDpEvent`. The batches come from a shuffled
//! `tf.data` pipeline or from Keras's `fit`, which shuffles.
//!
//! # Example
//! ```python
//! from tensorflow_privacy.privacy.analysis import compute_dp_sgd_privacy_lib
//! data = tf.data.Dataset.from_tensor_slices(records).shuffle(60000).batch(256)
//! epsilon, _ = compute_dp_sgd_privacy_lib.compute_dp_sgd_privacy(60000, 256, 1.1, 15, 1e-5)
//! ```
//!
//! The rule reports in private modules that use TensorFlow, if nothing hints at Poisson sampling.

use super::accounting::poisson_accounting;
use super::tensorflow_data::shuffled_batches;
use super::{Found, Reach, Rule};
use crate::libraries::samples_by_poisson;
use crate::module::Module;
use misdeal_results::Level;
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "tensorflow-privacy-shuffled",
    finds: "TensorFlow Privacy's accounting beside batches that are shuffled",
    why: "every batch is taken for a Poisson sample, and shuffled batches can leak several times that epsilon",
    fix: "draw batches by Poisson sampling, or state an epsilon for shuffling (misdeal account --scheme shuffle)",
    reach: Reach::PrivateModules,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    let imports = &module.facts.imports;
    let uses_tensorflow =
        ["tensorflow", "keras", "tensorflow_datasets"].iter().any(|package| imports.uses(package));
    if !uses_tensorflow || samples_by_poisson(&module.facts) {
        return;
    }
    let is_private_fit = || {
        let calls = &module.facts.calls;
        let has_optimizer = calls.iter().any(|call| {
            call.last_name().is_some_and(|name| name.starts_with("DP") && name.ends_with("Optimizer"))
        });
        let is_fit = |call: &crate::flow::Call| {
            let shuffles =
                call.arguments.named("shuffle").and_then(|(_, value)| value.as_bool()) != Some(false);
            call.method() == Some("fit") && shuffles
        };
        has_optimizer && calls.iter().any(is_fit)
    };
    let what = if shuffled_batches(module).is_some() {
        "Poisson sampling is accounted for, but the tf.data pipeline shuffles"
    } else if is_private_fit() {
        "Poisson sampling is accounted for, but fit shuffles"
    } else {
        return;
    };
    if let Some(call) = poisson_accounting(module).next() {
        found.add(call.expression.func.range(), what);
    }
}
