//! Debiasing: the adversary estimates what natural records add to its output.
//!
//! # Why the bound stays valid
//!
//! An audit counts how often a score passes a threshold in each world. Its bounds hold for any score that the adversary can
//! compute, if trials are independent and identically distributed.
//!
//! Before step t the adversary sees theta_t, and it knows all data except the target. It draws a sample of natural records without
//! looking at the batches. For each record it computes the projection p_j of the clipped gradient on the canary. The mean and
//! variance of the p_j depend only on what it sees and on its own random numbers. So does the score that uses them. As without
//! debiasing, the target's presence enters only through theta_t and the outputs.
//!
//! A wrong model of the bias (a normal law, a small sample) can therefore only weaken the test. It never makes the bound too
//! large.
//!
//! # The model
//!
//! Let m be the number of natural records in a batch, N the number of all records, and R the size of the sample. The bias of a
//! step then has approximately the law N(m mean(p), m var(p) (1 - m/N) + m^2 var(p) / R). The first variance term is the spread
//! within the batch. The second is the error of the sample mean.
//!
//! With random batch sizes the first term is m (1 - m/N) mean(p^2), because the number of records varies too.
//!
//! The adversary subtracts the mean from the output. In the likelihood ratio, s^2 becomes s^2 plus the variance.

use crate::plan::TrainingPlan;
use misdeal_core::{Purpose, Stream, World};

/// Size of the sample in each step, in multiples of the batch size.
const SAMPLED_BATCHES: u64 = 4;

/// The expected bias of one output, caused by natural records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BiasModel {
    /// Mean of the bias.
    pub mean: f64,
    /// Variance of the bias, including the uncertainty of the mean.
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

/// Samples natural records for a step, with replacement, from a separate random stream.
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
