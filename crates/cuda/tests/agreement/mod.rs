//! Trainings on a device against the reference on the same stream.
#![allow(dead_code, reason = "each test takes what it needs")]

use crate::tiny;
use misdeal_core::{Setting, Stream, World};
use misdeal_cuda::training::{Machine, Trainer};
use misdeal_train::{Recipe, TrainingPlan, reference, scores};

/// The largest difference allowed: of an output, of a parameter, and of a score (which sums ten outputs over s^2).
pub const OUTPUTS: f64 = 2e-5;
pub const SCORES: f64 = 2e-4;

/// A training of the tiny data set with a graphics processor's stream.
pub fn philox(setting: &Setting, recipe: &Recipe) -> TrainingPlan {
    let dataset = tiny::dataset(setting.dataset_size() as usize);
    TrainingPlan::with_stream(setting, recipe, dataset, Stream::philox).unwrap()
}

fn largest(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    assert_eq!((a.len(), a[0].len()), (b.len(), b[0].len()));
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Compares both worlds of the first trials: outputs, biases, what a debiasing adversary expects, parameters, scores and accuracies.
/// Gives the largest difference of an output.
pub fn compare<M: Machine>(plan: &TrainingPlan, trainer: &Trainer<M>, trials: u64) -> f64 {
    let models: Vec<_> = (0..trials).flat_map(|trial| World::BOTH.map(|world| (trial, world))).collect();
    let trained = trainer.train(&models).unwrap();
    let mut workspace = plan.workspace();
    let mut all: f64 = 0.0;
    for (&(trial, world), ours) in models.iter().zip(trained) {
        let exact = reference::train(plan, world, trial);
        let what = format!("{:?} {:?} trial {trial} {world:?}", plan.setting(), plan.recipe());
        let (hits, ours) = (ours.hits, ours.outputs);
        let of_outputs = largest(&exact.projections, &ours.projections);
        let of_biases = largest(&exact.biases, &ours.biases);
        assert!(of_outputs < OUTPUTS * plan.adversary().recentring().max(1.0), "{of_outputs} {what}");
        assert!(of_biases < OUTPUTS, "{of_biases} {what}");
        assert_eq!(exact.expected.len(), ours.expected.len());
        for (a, b) in exact.expected.iter().flatten().zip(ours.expected.iter().flatten()) {
            assert!(
                (a.mean - b.mean).abs() < OUTPUTS && (a.variance - b.variance).abs() < OUTPUTS,
                "{a:?} {b:?} {what}"
            );
        }
        assert_eq!(exact.parameters.len(), ours.parameters.len());
        let pairs = exact.parameters.iter().zip(&ours.parameters);
        let of_parameters = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(of_parameters < OUTPUTS, "{of_parameters} {what}");
        for (a, b) in scores(plan, &exact).iter().zip(scores(plan, &ours)) {
            assert!((a - b).abs() < SCORES * a.abs().max(1.0), "{a} {b} {what}");
        }
        let there = plan.train(&mut workspace, world, trial, &|| false).unwrap();
        let (train, test) = hits.unwrap();
        let (expected_train, expected_test) = there.hits.unwrap();
        // A record whose two largest outputs are equal to seven digits may fall to either side.
        assert!(train.abs_diff(expected_train) <= 1, "{train} {expected_train} {what}");
        assert_eq!(test.is_some(), expected_test.is_some());
        assert!(test.zip(expected_test).is_none_or(|(a, b)| a.abs_diff(b) <= 1), "{what}");
        all = all.max(of_outputs);
    }
    all
}
