//! TensorFlow Privacy's accounting in a module whose batches are shuffled.
//!
//! The accounting is `compute_dp_sgd_privacy`, `compute_rdp` or `PoissonSampledDpEvent`. The batches come from a shuffled
//! `tf.data` pipeline, from Keras's `fit`, which shuffles, or from an Estimator's input function with `shuffle=True`.
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
use super::tensorflow_order::{Kind, orders};
use super::{Found, Reach, Rule};
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
    if !uses_tensorflow {
        return;
    }
    let poisson = module.poisson();
    let Some(order) = orders(module)
        .into_iter()
        .find(|order| matches!(order.kind, Kind::Shuffled(_)) && !poisson.is_near(order.place))
    else {
        return;
    };
    let Kind::Shuffled(how) = order.kind else { return };
    let mut calls = poisson_accounting(module);
    if let Some(call) =
        calls.find(|call| !poisson.is_near(&call.place) && module.graph().relates(&call.place, order.place))
    {
        found.add(call.expression.func.range(), format!("Poisson sampling is accounted for, but {how}"));
    }
}
