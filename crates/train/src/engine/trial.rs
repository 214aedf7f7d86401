//! One trial: one model trained, its outputs, and what the model is worth.

use super::gradients::Gradients;
use crate::adversary::Crafted;
use crate::debias::{BiasModel, sample};
use crate::initial::initial_parameters;
use crate::kernels::{Dot, NoisyStep, add_multiple};
use crate::plan::TrainingPlan;
use crate::reference::Outputs;
use crate::simd::{AlignedFloats, InstructionSet};
use misdeal_core::World;
use misdeal_game::{Gaussians, schemes};

/// All memory that a core needs to train models of one plan.
#[derive(Debug, Clone)]
pub struct Workspace {
    set: InstructionSet,
    gaussians: Gaussians,
    gradients: Gradients,
    parameters: AlignedFloats,
    sum: AlignedFloats,
    noise: AlignedFloats,
    crafted: Crafted,
}

/// What a trained model leaves.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trained {
    /// Its outputs, step by step.
    pub outputs: Outputs,
    /// Training and test records classified correctly, if that was asked for.
    pub hits: Option<(u64, Option<u64>)>,
}

impl Workspace {
    /// Room for models of `plan`, on the instructions of `set`.
    pub fn new(plan: &TrainingPlan, set: InstructionSet) -> Self {
        let parameters = plan.model().parameters;
        Workspace {
            set,
            gaussians: Gaussians::new(),
            gradients: Gradients::new(plan.model(), set, plan.recipe().clip_norm),
            parameters: AlignedFloats::zeros(parameters),
            sum: AlignedFloats::zeros(parameters),
            noise: AlignedFloats::zeros(parameters),
            crafted: Crafted::default(),
        }
    }

    /// Bytes in use, apart from the batches' indices: 16 a record.
    pub fn bytes(&self) -> usize {
        self.gradients.bytes() + 3 * 4 * self.parameters.len()
    }

    /// Trains one model. None if `is_cancelled` said so between two steps.
    pub fn train(
        &mut self,
        plan: &TrainingPlan,
        world: World,
        trial: u64,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Trained> {
        let (setting, recipe, canaries) = (plan.setting(), plan.recipe(), plan.canaries());
        let examples = &plan.dataset().train;
        let steps = setting.steps() as usize;
        let empty = || vec![Vec::with_capacity(steps); canaries.len()];
        let mut outputs = Outputs { projections: empty(), biases: empty(), ..Outputs::default() };
        outputs.expected = vec![vec![]; if plan.debiases() { canaries.len() } else { 0 }];
        self.parameters.copy_from_slice(&initial_parameters(plan.model(), plan.stream(), world, trial));
        let mut sampler = schemes::sampler(setting, plan.stream(), world, trial);
        let mut step = 0;
        for _ in 0..setting.epochs {
            for batch in sampler.next_epoch().iter() {
                if is_cancelled() {
                    return None;
                }
                plan.adversary().craft(world, batch, &mut self.crafted);
                self.sum.fill(0.0);
                self.gradients.add_clipped(&self.parameters, examples, &self.crafted.naturals, &mut self.sum);
                if plan.debiases() {
                    self.expect_bias(plan, world, trial, step, &mut outputs.expected);
                }
                self.project(plan, &mut outputs.biases);
                for (canary, &count) in canaries.iter().zip(&self.crafted.canaries) {
                    if count != 0 {
                        add_multiple(&mut self.sum[canary.range()], count as f32, &canary.values);
                    }
                }
                self.draw_noise(plan, world, trial, step * plan.noise_stride());
                self.set.run(NoisyStep {
                    sum: &mut self.sum,
                    noise: &self.noise,
                    scale: (recipe.clip_norm * setting.noise_multiplier) as f32,
                    rate: (recipe.learning_rate / setting.batch_size as f64) as f32,
                    parameters: &mut self.parameters,
                });
                self.project(plan, &mut outputs.projections);
                step += 1;
            }
        }
        outputs.parameters = self.parameters.iter().map(|&parameter| f64::from(parameter)).collect();
        let hits = plan.measures_accuracy(trial).then(|| {
            let mut hits = |examples, records| self.gradients.hits(&self.parameters, examples, 0..records);
            let of_test = plan.dataset().test.as_ref().map(|test| hits(test, test.labels.len() as u64));
            (hits(examples, setting.dataset_size()), of_test)
        });
        Some(Trained { outputs, hits })
    }

    /// The noise of a step; a graphics processor's stream is drawn number by number, for comparisons.
    fn draw_noise(&mut self, plan: &TrainingPlan, world: World, trial: u64, first: u64) {
        if plan.stream().philox_key().is_none() {
            self.gaussians.fill(plan.stream(), world, trial, first, &mut self.noise);
            return;
        }
        for (index, noise) in (first..).zip(self.noise.iter_mut()) {
            *noise = plan.stream().training_gaussian(world, trial, index) as f32;
        }
    }

    /// Appends <sum, canary k> / C^2 to `projections[k]`.
    fn project(&self, plan: &TrainingPlan, projections: &mut [Vec<f64>]) {
        let scale = 1.0 / plan.recipe().clip_norm.powi(2);
        for (canary, projections) in plan.canaries().iter().zip(projections) {
            let mut product = 0.0;
            self.set.run(Dot {
                left: &self.sum[canary.range()],
                right: &canary.values,
                product: &mut product,
            });
            projections.push(product * scale);
        }
    }

    /// Appends what an adversary that debiases expects of this step.
    fn expect_bias(
        &mut self,
        plan: &TrainingPlan,
        world: World,
        trial: u64,
        step: u64,
        expected: &mut [Vec<BiasModel>],
    ) {
        let records = sample(plan, world, trial, step);
        let mut projections = vec![Vec::with_capacity(records.len()); expected.len()];
        let examples = &plan.dataset().train;
        self.gradients.project(&self.parameters, examples, &records, plan.canaries(), &mut projections);
        for (expected, projections) in expected.iter_mut().zip(&projections) {
            expected.push(BiasModel::new(plan, projections));
        }
    }
}
