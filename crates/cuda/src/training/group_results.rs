//! Outputs and accuracies of a group of models, read back from the device.

use misdeal_train::reference::ModelOutputs;
use misdeal_train::{BiasModel, TrainedModel, TrainingPlan, Utility, scores};

/// Number of training and test records that a model classifies correctly.
pub type Correct = (u64, Option<u64>);

/// Results that the next group overwrites; they are read before it starts.
#[derive(Debug, Default)]
pub struct FinalState {
    /// Accuracy counts by model; `None` if the accuracy is not measured.
    pub correct: Vec<Option<Correct>>,
    /// Parameters by model; empty unless requested.
    pub parameters: Vec<Vec<f64>>,
    /// Whether the device has computed the scores.
    pub has_scores: bool,
}

/// Results of all models of a group, in the order of device memory.
#[derive(Debug, Default)]
pub struct GroupResults {
    /// Accuracy counts by model; `None` if the accuracy is not measured.
    pub correct: Vec<Option<Correct>>,
    /// The natural records' part of each output, and the output: [model][step][canary][2].
    pub values: Vec<f64>,
    /// Projections of sampled gradients, for debiasing: [model][step][record][canary].
    pub seen: Vec<f32>,
    /// Parameters by model; empty unless requested.
    pub parameters: Vec<Vec<f64>>,
    /// Number of records sampled in a step for debiasing.
    pub sampled: usize,
    /// Scores that the device has computed: [model][canary]. Then outputs were not read.
    pub scores: Vec<f64>,
}

impl GroupResults {
    /// The scores and the utility of one model.
    pub fn scored(&self, plan: &TrainingPlan, model: usize) -> (Vec<f64>, Utility) {
        if self.scores.is_empty() {
            let model = self.model(plan, model);
            return (scores(plan, &model.outputs), plan.utility(&model));
        }
        let canaries = plan.canaries().len();
        let scores = self.scores[model * canaries..][..canaries].to_vec();
        (scores, plan.utility_without_bias(self.correct[model]))
    }

    /// Extracts the results of one model.
    pub fn model(&self, plan: &TrainingPlan, model: usize) -> TrainedModel {
        let (steps, canaries) = (plan.setting().steps() as usize, plan.canaries().len());
        let values = &self.values[model * steps * canaries * 2..][..steps * canaries * 2];
        let output = |kind: usize| -> Vec<Vec<f64>> {
            (0..canaries)
                .map(|k| values.chunks_exact(canaries * 2).map(|step| step[2 * k + kind]).collect())
                .collect()
        };
        let each = self.sampled * canaries;
        let seen = &self.seen[model * steps * each..][..steps * each];
        let expected = |k: usize| -> Vec<BiasModel> {
            let of_step = |step: &[f32]| {
                let projections: Vec<f64> =
                    step.chunks_exact(canaries).map(|record| f64::from(record[k])).collect();
                BiasModel::new(plan, &projections)
            };
            seen.chunks_exact(each.max(1)).map(of_step).collect()
        };
        let debiased = if plan.debiases() { canaries } else { 0 };
        TrainedModel {
            outputs: ModelOutputs {
                biases: output(0),
                projections: output(1),
                expected: (0..debiased).map(expected).collect(),
                parameters: self.parameters.get(model).cloned().unwrap_or_default(),
            },
            correct: self.correct[model],
        }
    }
}
