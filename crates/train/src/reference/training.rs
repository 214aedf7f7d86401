//! The paper's Algorithm 2, line by line.

use super::network::Network;
use crate::debias::{BiasModel, sample};
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
    let mut sampler = sampler(setting, stream, world, trial);
    let mut step = 0;
    for _ in 0..setting.epochs {
        for batch in sampler.next_epoch().iter() {
            let target_of =
                |record: u64| (record as usize).checked_sub(first_target).filter(|&k| k < canaries.len());
            let mut missing: Vec<usize> =
                (0..canaries.len()).filter(|k| !batch.contains(&((first_target + k) as u64))).collect();
            let holds_target = missing.len() < canaries.len();
            let mut sum = vec![0.0; model.parameters];
            let mut natural_sum = vec![0.0; model.parameters];
            // From the last record to the first, because the opposing gradients take the last places.
            missing.reverse();
            for &record in batch.iter().rev() {
                let mut natural = false;
                let mut gradient = match target_of(record) {
                    Some(_) if world == World::Out => vec![0.0; model.parameters],
                    Some(k) => canaries[k].clone(),
                    None if floods => {
                        let sign = if holds_target { 1.0 } else { -1.0 };
                        canaries[0].iter().map(|g| sign * g).collect()
                    }
                    None if opposes && !missing.is_empty() => {
                        canaries[missing.pop().unwrap_or(0)].iter().map(|g| -g).collect()
                    }
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
