//! What comes back from a device for a group of models, sorted out when the device is at work again.

use misdeal_train::reference::Outputs;
use misdeal_train::{BiasModel, Trained, TrainingPlan};

/// Training and test records classified correctly.
pub type Hits = (u64, Option<u64>);

/// What must be read before the next group is trained.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Of models that were asked.
    pub hits: Vec<Option<Hits>>,
    /// Parameters of each model, if they were asked for.
    pub parameters: Vec<Vec<f64>>,
}

/// Numbers of all models of a group, as they lie on the device.
#[derive(Debug, Default)]
pub struct Harvest {
    /// Of models that were asked.
    pub hits: Vec<Option<Hits>>,
    /// [model][step][canary][2]: the natural records' part, and the whole output.
    pub values: Vec<f64>,
    /// [model][step][record][canary]: what a debiasing adversary sees.
    pub seen: Vec<f32>,
    /// Parameters of each model, if they were asked for.
    pub parameters: Vec<Vec<f64>>,
    /// Records that such an adversary looks at in a step.
    pub sampled: usize,
}

impl Harvest {
    /// One model's part.
    pub fn model(&self, plan: &TrainingPlan, model: usize) -> Trained {
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
        Trained {
            outputs: Outputs {
                biases: output(0),
                projections: output(1),
                expected: (0..debiased).map(expected).collect(),
                parameters: self.parameters.get(model).cloned().unwrap_or_default(),
            },
            hits: self.hits[model],
        }
    }
}
