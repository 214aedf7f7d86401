//! How a model is trained and attacked: plain data that every engine reads.

use crate::{Blueprint, Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::closed_set! {
    "canary",
    /// The direction of the gradient that stands for the target.
    #[derive(Default)]
    pub enum CanaryKind {
        /// Uniform on the sphere, as in the paper.
        #[default]
        Random,
        /// One coordinate.
        Dirac,
        /// A direction in which no natural gradient has a part: no bias at any batch size.
        NullSpace,
    }
}

crate::closed_set! {
    "last_batch",
    /// What happens to records that do not fill a batch.
    #[derive(Default)]
    pub enum LastBatch {
        /// They are left out.
        #[default]
        Drop,
        /// They form a batch of their own. Only data sets without such records are accepted: the batch schemes deal full
        /// batches.
        Keep,
    }
}

/// How models are trained and attacked.
///
/// A recipe, a [`Setting`](crate::Setting) and a data set together decide every trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The model to train.
    pub model: Blueprint,
    /// The learning rate: the step size along the mean noisy gradient (eta).
    pub learning_rate: f64,
    /// The clipping norm: the largest allowed norm of a record's gradient (C).
    pub clip_norm: f64,
    /// The direction of the target's gradient.
    pub canary: CanaryKind,
    /// The number of targets in one training: the records from `target_index` on, each with its own direction.
    pub canaries: usize,
    /// Whether the adversary models what natural records add to its outputs.
    pub debias: bool,
    /// What happens to records that do not fill a batch.
    pub last_batch: LastBatch,
}

impl Recipe {
    /// The paper's recipe for a model: clipping norm 1 and one random canary.
    ///
    /// The paper tuned learning rates on a logarithmic scale and does not print them. The value here, 0.1, lies on that
    /// scale.
    pub fn new(model: Blueprint) -> Self {
        Recipe {
            model,
            learning_rate: 0.1,
            clip_norm: 1.0,
            canary: CanaryKind::default(),
            canaries: 1,
            debias: false,
            last_batch: LastBatch::default(),
        }
    }

    /// Checks the numbers that do not depend on data.
    ///
    /// # Errors
    /// Names the first number that is out of range.
    pub fn check(&self) -> Result<()> {
        let rates = [("learning_rate", self.learning_rate, 0.0), ("clip_norm", self.clip_norm, 1e-6)];
        for (field, value, least) in rates {
            if !(least..=1e6).contains(&value) {
                let hint = "the paper clips to 1 and tunes the learning rate on a logarithmic scale";
                return Err(Error::bad_value(field, value, format!("a number from {least} to 1e6"), hint));
            }
        }
        Ok(())
    }
}
