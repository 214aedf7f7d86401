//! The paper's Algorithm 2, line by line.

use super::network::Network;
use crate::coins::coins;
use crate::debias::{BiasModel, sample};
use crate::follow::leaders;
use crate::initial::initial_parameters;
use crate::plan::TrainingPlan;
use misdeal_core::{BatchScheme, ThreatModel, World};
use misdeal_schemes::sampler;

/// The adversary's outputs: one for each canary and step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelOutputs {
    /// `projections[k][t]`: <noisy sum, canary k> / C^2 in step t, without recentring.
    pub projections: Vec<Vec<f64>>,
    /// `biases[k][t]`: the part of that projection that natural records cause.
    pub biases: Vec<Vec<f64>>,
    /// `expected[k][t]`: the bias that a debiasing adversary expects; empty without debiasing.
    pub expected: Vec<Vec<BiasModel>>,
    /// The parameters after the last step.
    pub parameters: Vec<f64>,
}

/// Clips a gradient to norm `clip_norm`.
pub fn clip(gradient: &mut [f64], clip_norm: f64) {
    let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
    let scale = 1.0_f64.max(norm / clip_norm);
    for g in gradient {
        *g /= scale;
    }
}

/// Trains one model by Algorithm 2, with one gradient per record.
pub fn train(plan: &TrainingPlan, world: World, trial: u64) -> ModelOutputs {
    let (setting, recipe, model) = (plan.setting(), plan.recipe(), plan.model());
    let (examples, stream) = (&plan.dataset().train, plan.stream());
    let network = Network::new(model);
    let clip_norm = recipe.clip_norm;
    let canaries: Vec<Vec<f64>> = plan
        .canaries()
        .iter()
        .map(|canary| {
            let mut gradient = vec![0.0; model.parameters];
            for (g, &value) in gradient[canary.range()].iter_mut().zip(&canary.values) {
                *g = f64::from(value);
            }
            gradient
        })
        .collect();
    let first_target = setting.target_index as usize;
    let worst_case = setting.threat_model == ThreatModel::WorstCase;
    let floods = worst_case && setting.scheme == BatchScheme::BatchThenShuffle;
    let opposes = setting.threat_model != ThreatModel::TargetCanary
        && setting.scheme.has_fixed_batch_sizes()
        && !floods;

    let mut parameters: Vec<f64> =
        initial_parameters(model, stream, world, trial).into_iter().map(f64::from).collect();
    let mut outputs = ModelOutputs {
        projections: vec![vec![]; canaries.len()],
        biases: vec![vec![]; canaries.len()],
        expected: vec![vec![]; if plan.debiases() { canaries.len() } else { 0 }],
        parameters: vec![],
    };
    let coins = coins(stream, world, trial, canaries.len());
    let times = |k: usize, factor: f64| -> Vec<f64> { canaries[k].iter().map(|g| factor * g).collect() };
    let mut sampler = sampler(setting, stream, world, trial);
    let mut step = 0;
    for epoch in 0..setting.epochs {
        for batch in sampler.next_epoch().iter() {
            let shuffle = match setting.scheme {
                BatchScheme::Shuffle => Some(epoch),
                BatchScheme::ShuffleOnce => Some(0),
                BatchScheme::WithoutReplacement => Some(step),
                _ => None,
            };
            let leaders = match shuffle {
                Some(shuffle) if opposes && canaries.len() > 1 => {
                    leaders(stream, (world, trial), shuffle, setting.dataset_size(), canaries.len())
                }
                _ => (0..canaries.len()).collect(),
            };
            let leader_of = |record: u64| {
                let target = (record as usize).checked_sub(first_target);
                target.filter(|&k| k < canaries.len() && leaders[k] == k)
            };
            let is_here = |k: usize| batch.contains(&((first_target + leaders[k]) as u64));
            let holds_target = (0..canaries.len()).any(is_here);
            // Roles without a record of their own: followers of a leader in this batch, and gradients that oppose a canary
            // that is elsewhere.
            let mut roles: Vec<Vec<f64>> = vec![];
            for (k, &leader) in leaders.iter().enumerate() {
                if is_here(k) && leader != k {
                    roles.push(times(k, if coins[k] { 1.0 } else { 0.0 }));
                } else if opposes && !is_here(k) {
                    roles.push(times(k, -1.0));
                }
            }
            let mut sum = vec![0.0; model.parameters];
            let mut natural_sum = vec![0.0; model.parameters];
            // From the last record to the first, because these roles take the last places.
            roles.reverse();
            for &record in batch.iter().rev() {
                let mut natural = false;
                let mut gradient = match leader_of(record) {
                    Some(k) => times(k, if coins[k] { 1.0 } else { 0.0 }),
                    None if floods => times(0, if holds_target { 1.0 } else { -1.0 }),
                    None if !roles.is_empty() => roles.pop().unwrap_or_default(),
                    None if worst_case => vec![0.0; model.parameters],
                    None => {
                        natural = true;
                        let label = examples.labels[record as usize].into();
                        network.gradient(&parameters, examples.record(record as usize), label)
                    }
                };
                clip(&mut gradient, clip_norm);
                sum.iter_mut().zip(&gradient).for_each(|(sum, g)| *sum += g);
                if natural {
                    natural_sum.iter_mut().zip(&gradient).for_each(|(sum, g)| *sum += g);
                }
            }
            for (expected, canary) in outputs.expected.iter_mut().zip(plan.canaries()) {
                let projections: Vec<f64> = sample(plan, world, trial, step)
                    .iter()
                    .map(|&record| {
                        let label = examples.labels[record as usize].into();
                        let mut gradient =
                            network.gradient(&parameters, examples.record(record as usize), label);
                        clip(&mut gradient, clip_norm);
                        canary.projection(&gradient, clip_norm)
                    })
                    .collect();
                expected.push(BiasModel::new(plan, &projections));
            }
            let first_draw = step * plan.noise_stride();
            for (draw, sum) in (first_draw..).zip(&mut sum) {
                *sum += clip_norm * setting.noise_multiplier * stream.training_gaussian(world, trial, draw);
            }
            let rate = recipe.learning_rate / setting.batch_size as f64;
            parameters.iter_mut().zip(&sum).for_each(|(theta, g)| *theta -= rate * g);
            for (k, canary) in plan.canaries().iter().enumerate() {
                outputs.projections[k].push(canary.projection(&sum, clip_norm));
                outputs.biases[k].push(canary.projection(&natural_sum, clip_norm));
            }
            step += 1;
        }
    }
    outputs.parameters = parameters;
    outputs
}
