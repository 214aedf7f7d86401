//! Debiasing: the adversary estimates what natural records add to its output.
//!
//! # Why the bound stays valid
//!
//! An audit counts how often a score passes a threshold in either world. Its bounds hold for any score computed from what the adversary may see,
//! as long as trials are independent and identically distributed. Before step t the adversary sees theta_t, and it knows the data except the
//! target.
//! From both it computes, for a sample of natural records drawn without looking at the batches, the projections p_j of their
//! clipped gradients on the canary. Their mean and variance are functions of what it sees and of its own coins; so is the
//! score that uses them. The target's presence enters only through theta_t and the outputs, as without debiasing. A wrong
//! model of the bias (a normal law, a small sample) can thus only make the score a weaker test, never the bound too large.
//!
//! # The model
//!
//! With m natural records in a batch, N of them in all and R in the sample, the bias of a step has about the law
//! N(m mean(p), m var(p) (1 - m/N) + m^2 var(p) / R): the batch's own spread, and the sample's error. With random batch sizes the first term is m (1 - m/N) mean(p^2), because the number of records varies too. The output is reduced by
//! the mean, and the likelihood ratio takes s^2 plus the variance in place of s^2.

use crate::plan::TrainingPlan;
use misdeal_core::{Purpose, Stream, World};

/// Size of the sample in each step, in batches.
const SAMPLED_BATCHES: u64 = 4;

/// The expected bias of one output, by natural records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BiasModel {
    /// Its mean.
    pub mean: f64,
    /// Its variance, including the uncertainty of the mean.
    pub variance: f64,
}

impl BiasModel {
    /// Estimates the bias from the projections of sampled records.
    pub fn new(plan: &TrainingPlan, projections: &[f64]) -> Self {
        let sampled = projections.len() as f64;
        let in_batch = plan.adversary().naturals() as f64;
        let in_all = plan.setting().dataset_size() as f64;
        let mean = projections.iter().sum::<f64>() / sampled;
        let second = projections.iter().map(|p| p * p).sum::<f64>() / sampled;
        let variance =
            (projections.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / (sampled - 1.0).max(1.0)).max(0.0);
        let spread = if plan.setting().scheme.has_fixed_batch_sizes() { variance } else { second };
        let of_batch = in_batch * spread * (1.0 - in_batch / in_all).max(0.0);
        let of_mean = in_batch * in_batch * variance / sampled;
        BiasModel { mean: in_batch * mean, variance: of_batch + of_mean }
    }
}

/// Samples natural records for a step with replacement, from a stream of its own.
pub fn sample(plan: &TrainingPlan, world: World, trial: u64, step: u64) -> Vec<u64> {
    let (setting, targets) = (plan.setting(), plan.recipe().canaries as u64);
    let naturals = setting.dataset_size() - targets;
    let count = (SAMPLED_BATCHES * setting.batch_size).min(naturals);
    let record = |draw: u64| {
        let counter = Stream::long_counter(Purpose::DebiasSample, world, trial, step * count + draw);
        let bits = plan.stream().block(counter) as u64;
        let index = ((u128::from(bits) * u128::from(naturals)) >> 64) as u64;
        if index < setting.target_index { index } else { index + targets }
    };
    (0..count).map(record).collect()
}
