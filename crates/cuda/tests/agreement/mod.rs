//! Trainings on a device against the reference on the same stream.
#![allow(dead_code, reason = "each test takes what it needs")]

use misdeal_core::{Blueprint, CanaryKind, Loss, Precision, Recipe, Setting, Stream, ThreatModel, World};
use misdeal_cuda::training::{Accelerator, Program, Trainer, Tuning};
use misdeal_testkit::tiny;
use misdeal_testkit::trainings::{self, TinyTraining, assert_agreement};
use misdeal_train::data::{Dataset, Shape};
use misdeal_train::{TrainingPlan, reference};
use std::sync::Arc;

/// A training of the tiny data set with a graphics processor's stream.
pub fn philox(setting: &Setting, recipe: &Recipe) -> TrainingPlan {
    let dataset = tiny::dataset(setting.dataset_size() as usize);
    TrainingPlan::with_stream(setting, recipe, dataset, Stream::philox).unwrap()
}

/// Compares both worlds of the first trials: outputs, biases, what a debiasing adversary expects, parameters, scores and accuracies.
/// Gives the largest difference of an output.
pub fn compare<A: Accelerator>(plan: &TrainingPlan, trainer: &Trainer<A>, trials: u64) -> f64 {
    let models: Vec<_> = (0..trials).flat_map(|trial| World::BOTH.map(|world| (trial, world))).collect();
    let trained = trainer.train(&models).unwrap();
    let mut workspace = plan.workspace();
    let mut all: f64 = 0.0;
    for (&(trial, world), ours) in models.iter().zip(trained) {
        let exact = reference::train(plan, world, trial);
        let what = format!("{:?} {:?} trial {trial} {world:?}", plan.setting(), plan.recipe());
        let (correct, ours) = (ours.correct, ours.outputs);
        let of_outputs = assert_agreement(plan, &exact, &ours, &what);
        let there = plan.train(&mut workspace, world, trial, &|| false).unwrap();
        let (train, test) = correct.unwrap();
        let (expected_train, expected_test) = there.correct.unwrap();
        // A record whose two largest outputs are equal to seven digits may fall to either side.
        assert!(train.abs_diff(expected_train) <= 1, "{train} {expected_train} {what}");
        assert_eq!(test.is_some(), expected_test.is_some());
        assert!(test.zip(expected_test).is_none_or(|(a, b)| a.abs_diff(b) <= 1), "{what}");
        all = all.max(of_outputs);
    }
    all
}

/// The largest difference of an output in these trainings.
pub fn compare_all<A: Accelerator>(
    all: Vec<TinyTraining>,
    trainer: impl Fn(&TrainingPlan) -> Trainer<A>,
) -> f64 {
    let largest = all.into_iter().map(|TinyTraining { setting, recipe, trials }| {
        let plan = philox(&setting, &recipe);
        compare(&plan, &trainer(&plan), trials)
    });
    largest.fold(0.0, f64::max)
}

/// Two steps of one of these models, in batches of `batch_size`.
pub fn two_steps<A: Accelerator>(
    (blueprint, shape, classes): &(Blueprint, Shape, u16),
    batch_size: u64,
    trainer: impl Fn(&TrainingPlan) -> Trainer<A>,
) -> f64 {
    let setting = trainings::two_steps(batch_size);
    let recipe = Recipe::new(blueprint.clone());
    let dataset = tiny::noise(*shape, *classes, 2 * batch_size as usize);
    let plan = TrainingPlan::with_stream(&setting, &recipe, dataset, Stream::philox).unwrap();
    compare(&plan, &trainer(&plan), 1)
}

/// Several canaries: within one block of parameters, across blocks, in all of them, and sharing parameters.
pub fn many_canaries<A: Accelerator>(trainer: impl Fn(&TrainingPlan) -> Trainer<A>) -> f64 {
    use ThreatModel::{PartiallyInformed, WorstCase};
    let [mlp, lenet, ..] = trainings::models();
    let squared = (Blueprint { loss: Loss::SquaredError, ..mlp.0.clone() }, mlp.1, mlp.2);
    let mut all: f64 = 0.0;
    for (model, canary, canaries, threat_model) in [
        (&mlp, CanaryKind::NullSpace, 33, PartiallyInformed),
        (&mlp, CanaryKind::Random, 3, WorstCase),
        (&squared, CanaryKind::NullSpace, 5, PartiallyInformed),
        (&lenet, CanaryKind::NullSpace, 38, PartiallyInformed),
        (&lenet, CanaryKind::Dirac, 40, WorstCase),
    ] {
        let setting = Setting { threat_model, target_index: 7, ..trainings::two_steps(40) };
        let recipe = Recipe { canary, canaries, ..Recipe::new(model.0.clone()) };
        let dataset = tiny::noise(model.1, model.2, 80);
        let plan = TrainingPlan::with_stream(&setting, &recipe, dataset, Stream::philox).unwrap();
        let largest = compare(&plan, &trainer(&plan), 1);
        // The device scores the worst case itself.
        let scored = trainer(&plan).score(0..2, &|| false, &|| ()).unwrap().unwrap();
        let there = plan.score(0..2, &|| false, &|| ()).unwrap();
        assert_eq!(scored.utility.bias().is_some(), there.utility.bias().is_some());
        let pairs = scored.scores_in.iter().zip(&there.scores_in);
        for (a, b) in pairs.chain(scored.scores_out.iter().zip(&there.scores_out)) {
            assert!((a - b).abs() < trainings::SCORES * a.abs().max(1.0), "{a} {b}");
        }
        println!("{canaries} {canary} canaries in {}: {largest:.2e}", model.0.name);
        all = all.max(largest);
    }
    all
}

/// Records of bits, labels of noise.
fn bits(features: usize, classes: u16, records: usize) -> Arc<Dataset> {
    let mut dataset = (*tiny::noise(Shape::flat(features), classes, records)).clone();
    dataset.train.features.iter_mut().for_each(|feature| *feature = f32::from(u8::from(*feature > 0.0)));
    dataset.test = Some(dataset.train.clone());
    Arc::new(dataset)
}

/// Perceptrons on records of bits, which are trained one in a block: sizes, activations, losses and threat models.
pub fn perceptrons<A: Accelerator>(trainer: impl Fn(&TrainingPlan) -> Trainer<A>) -> f64 {
    use ThreatModel::{PartiallyInformed, TargetCanary, WorstCase};
    let mut all: f64 = 0.0;
    for (features, hidden, activation, classes, loss, batch_size, threat_model, canary) in [
        (600, 32, "relu", 100, Loss::SoftmaxCrossEntropy, 100, PartiallyInformed, CanaryKind::Random),
        (446, 32, "relu", 100, Loss::SoftmaxCrossEntropy, 20, TargetCanary, CanaryKind::NullSpace),
        (37, 8, "tanh", 24, Loss::SquaredError, 40, WorstCase, CanaryKind::Dirac),
        (31, 16, "tanh", 40, Loss::SquaredError, 33, TargetCanary, CanaryKind::Random),
    ] {
        let blueprint = format!(
            "name = 'perceptron'\nlayers = [{{kind = 'linear', outputs = {hidden}}}, {{kind = '{activation}'}}, {{kind = 'linear'}}]"
        );
        let model = Blueprint { loss, ..Blueprint::from_toml(&blueprint).unwrap() };
        let setting =
            Setting { steps_per_epoch: 2, batch_size, threat_model, epochs: 2, ..Setting::default() };
        let recipe = Recipe { canary, ..Recipe::new(model) };
        let dataset = bits(features, classes, 2 * batch_size as usize);
        let plan = TrainingPlan::with_stream(&setting, &recipe, dataset, Stream::philox).unwrap();
        let program = Program::new(&plan, Precision::F32, Tuning::default(), 227 * 1024);
        assert!(program.fused.is_some(), "{features}-{hidden}-{classes} fits a block");
        let largest = compare(&plan, &trainer(&plan), 2);
        println!("{features}-{hidden}-{classes}: {largest:.2e}");
        all = all.max(largest);
    }
    all
}
