//! Trains one model.

use super::gradients::{Gradients, IsCancelled};
use crate::adversary::ModifiedBatch;
use crate::debias::{BiasModel, sample};
use crate::initial::fill_initial_parameters;
use crate::kernels::{Dot, NoisyStep, add_multiple};
use crate::memory::NOISE_AT_A_TIME;
use crate::plan::TrainingPlan;
use crate::reference::ModelOutputs;
use crate::simd::{AlignedFloats, InstructionSet};
use misdeal_core::World;
use misdeal_game::Gaussians;
use misdeal_schemes::sampler;

/// The working memory of a core, reused for all models of a plan.
#[derive(Debug, Clone)]
pub struct Workspace {
    set: InstructionSet,
    gaussians: Gaussians,
    gradients: Gradients,
    parameters: AlignedFloats,
    sum: AlignedFloats,
    noise: AlignedFloats,
    modified: ModifiedBatch,
}

/// The results of training one model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrainedModel {
    /// The outputs of all steps.
    pub outputs: ModelOutputs,
    /// Correctly classified training and test records, if measured.
    pub correct: Option<(u64, Option<u64>)>,
}

impl Workspace {
    /// Allocates working memory for models of `plan`, with `records` records at a time.
    pub(crate) fn new(plan: &TrainingPlan, set: InstructionSet, records: usize) -> Self {
        let parameters = plan.model().parameters;
        Workspace {
            set,
            gaussians: Gaussians::new(),
            gradients: Gradients::new(plan.model(), set, plan.recipe().clip_norm, records),
            parameters: AlignedFloats::zeros(parameters),
            sum: AlignedFloats::zeros(parameters),
            noise: AlignedFloats::zeros(parameters.min(NOISE_AT_A_TIME)),
            modified: ModifiedBatch::default(),
        }
    }

    /// Bytes in use, without the batches' indices.
    pub fn bytes(&self) -> usize {
        self.gradients.bytes() + 4 * (2 * self.parameters.len() + self.noise.len())
    }

    /// The parameters of the last trained model.
    pub(crate) fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// Trains one model; its parameters stay in the workspace. `None` if cancelled.
    pub(crate) fn train(
        &mut self,
        plan: &TrainingPlan,
        world: World,
        trial: u64,
        is_cancelled: IsCancelled<'_>,
    ) -> Option<TrainedModel> {
        let (setting, canaries) = (plan.setting(), plan.canaries());
        let examples = &plan.dataset().train;
        let steps = setting.steps() as usize;
        let empty = || vec![Vec::with_capacity(steps); canaries.len()];
        let mut outputs = ModelOutputs { projections: empty(), biases: empty(), ..ModelOutputs::default() };
        outputs.expected = vec![vec![]; if plan.debiases() { canaries.len() } else { 0 }];
        fill_initial_parameters(plan.model(), plan.stream(), world, trial, &mut self.parameters);
        let mut sampler = sampler(setting, plan.stream(), world, trial);
        let mut roles = plan.adversary().roles(plan.stream(), world, trial);
        let mut step = 0;
        for epoch in 0..setting.epochs {
            roles.begin_epoch(epoch);
            for batch in sampler.next_epoch().iter() {
                if is_cancelled() {
                    return None;
                }
                roles.modify(batch, &mut self.modified);
                self.sum.fill(0.0);
                let naturals = &self.modified.naturals;
                let (parameters, sum) = (&self.parameters, &mut self.sum);
                self.gradients.add_clipped(parameters, examples, naturals, sum, is_cancelled)?;
                if plan.debiases() {
                    self.expect_bias(plan, world, trial, step, &mut outputs.expected, is_cancelled)?;
                }
                self.project(plan, &mut outputs.biases);
                for (canary, &count) in canaries.iter().zip(&self.modified.canaries) {
                    if count != 0 {
                        add_multiple(&mut self.sum[canary.range()], count as f32, &canary.values);
                    }
                }
                self.noisy_step(plan, world, trial, step * plan.noise_stride());
                self.project(plan, &mut outputs.projections);
                step += 1;
            }
        }
        let mut trained = TrainedModel { outputs, correct: None };
        if plan.measures_accuracy(trial) {
            let mut correct =
                |examples, records| self.gradients.correct(&self.parameters, examples, records, is_cancelled);
            let of_test = match plan.dataset().test.as_ref() {
                Some(test) => Some(correct(test, test.labels.len() as u64)?),
                None => None,
            };
            trained.correct = Some((correct(examples, setting.dataset_size())?, of_test));
        }
        Some(trained)
    }

    /// Adds noise to the sum and updates the parameters; `first` is the index of the first draw.
    fn noisy_step(&mut self, plan: &TrainingPlan, world: World, trial: u64, first: u64) {
        let (setting, recipe) = (plan.setting(), plan.recipe());
        let sums = self.sum.chunks_mut(NOISE_AT_A_TIME);
        let parts = sums.zip(self.parameters.chunks_mut(NOISE_AT_A_TIME));
        for (first, (sum, parameters)) in (first..).step_by(NOISE_AT_A_TIME).zip(parts) {
            let noise = &mut self.noise[..sum.len()];
            if plan.stream().philox_key().is_none() {
                self.gaussians.fill(plan.stream(), world, trial, first, noise);
            } else {
                // A GPU's stream is drawn number by number; this is used only for comparisons.
                for (index, noise) in (first..).zip(noise.iter_mut()) {
                    *noise = plan.stream().training_gaussian(world, trial, index) as f32;
                }
            }
            self.set.run(NoisyStep {
                sum,
                noise,
                scale: (recipe.clip_norm * setting.noise_multiplier) as f32,
                rate: (recipe.learning_rate / setting.batch_size as f64) as f32,
                parameters,
            });
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

    /// Appends the expected bias of this step; `None` if cancelled.
    fn expect_bias(
        &mut self,
        plan: &TrainingPlan,
        world: World,
        trial: u64,
        step: u64,
        expected: &mut [Vec<BiasModel>],
        is_cancelled: IsCancelled<'_>,
    ) -> Option<()> {
        let records = sample(plan, world, trial, step);
        let mut projections = vec![Vec::with_capacity(records.len()); expected.len()];
        let examples = &plan.dataset().train;
        let (parameters, canaries) = (&self.parameters, plan.canaries());
        self.gradients.project(parameters, examples, &records, canaries, &mut projections, is_cancelled)?;
        for (expected, projections) in expected.iter_mut().zip(&projections) {
            expected.push(BiasModel::new(plan, projections));
        }
        Some(())
    }
}
