//! Accounting for Poisson sampling of records whose order is never drawn: a `tf.data` pipeline that only forms batches,
//! `fit(shuffle=False)`, or batches that are cut out of an array from start to end.
//!
//! # Example
//! ```python
//! import tensorflow_privacy
//! optimizer = tensorflow_privacy.DPKerasSGDOptimizer(l2_norm_clip=1.0, noise_multiplier=1.1)
//! data = tf.data.Dataset.from_tensor_slices(records).batch(256)
//! model.fit(data, epochs=15)
//! tensorflow_privacy.compute_dp_sgd_privacy(n=60000, batch_size=256, noise_multiplier=1.1, epochs=15, delta=1e-5)
//! ```
//!
//! The rule reports in private modules, in the function of the accounting or in one that it calls. It does not report where
//! Poisson sampling is near, or where records are shuffled beforehand. `training-not-shuffled` finds a PyTorch `DataLoader`.

use super::accounting::poisson_accounting;
use super::cuts::{is_reordered, sequential_cuts};
use super::tensorflow_order::{Kind, orders};
use super::training_not_shuffled::keeps_order_on_purpose;
use super::{Found, Reach, Rule};
use crate::module::Module;
use misdeal_results::Level;
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "poisson-accounting-of-fixed-order",
    finds: "accounting for Poisson sampling of records that are never shuffled",
    why: "the batches are the same in every epoch and known in advance, so there is no amplification by sampling",
    fix: "draw every batch by Poisson sampling, or account without sampling: rate 1, one step an epoch",
    reach: Reach::PrivateModules,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    if keeps_order_on_purpose(module) {
        return;
    }
    let Some(call) = poisson_accounting(module).find(|call| !module.poisson().is_near(&call.place)) else {
        return;
    };
    let orders = orders(module);
    let is_shuffled = orders.iter().any(|order| matches!(order.kind, Kind::Shuffled(_)));
    let fixed = orders.iter().find_map(|order| match order.kind {
        Kind::Fixed(how)
            if module.graph().relates(order.place, &call.place)
                && !module.poisson().is_near(order.place)
                && !is_reordered(module, order.place) =>
        {
            Some(how)
        }
        _ => None,
    });
    let how = fixed.filter(|_| !is_shuffled).or_else(|| {
        let mut cuts = sequential_cuts(module);
        cuts.any(|place| module.graph().relates(&place, &call.place) && !module.poisson().is_near(&place))
            .then_some("batches are cut out of the data from start to end")
    });
    if let Some(how) = how {
        found.add(call.expression.func.range(), format!("Poisson sampling is accounted for, but {how}"));
    }
}
