//! Trainings on a device against the reference on the same stream.
#![allow(dead_code, reason = "each test takes what it needs")]

use misdeal_core::{
    BatchScheme, Blueprint, CanaryKind, ClosedSet, Loss, Precision, Recipe, Setting, Stream, ThreatModel,
    World,
};
use misdeal_cuda::training::{Accelerator, Program, Trainer, Tuning};
use misdeal_testkit::tiny;
use misdeal_train::data::{Dataset, Shape};
use misdeal_train::{TrainingPlan, reference, scores};
use std::sync::Arc;

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
pub fn compare<A: Accelerator>(plan: &TrainingPlan, trainer: &Trainer<A>, trials: u64) -> f64 {
    let models: Vec<_> = (0..trials).flat_map(|trial| World::BOTH.map(|world| (trial, world))).collect();
    let trained = trainer.train(&models).unwrap();
    let mut workspace = plan.workspace();
    let mut all: f64 = 0.0;
    for (&(trial, world), ours) in models.iter().zip(trained) {
        let exact = reference::train(plan, world, trial);
        let what = format!("{:?} {:?} trial {trial} {world:?}", plan.setting(), plan.recipe());
        let (correct, ours) = (ours.correct, ours.outputs);
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

/// All schemes and threat models, on models with every kind of layer.
pub fn all_schemes_and_threat_models<A: Accelerator>(trainer: impl Fn(&TrainingPlan) -> Trainer<A>) -> f64 {
    let mut all: f64 = 0.0;
    for model in [tiny::PERCEPTRON, tiny::CONVOLUTIONS] {
        for scheme in tiny::schemes() {
            for threat_model in ThreatModel::all().iter().copied() {
                let setting = Setting { scheme, threat_model, ..tiny::setting() };
                let plan = philox(&setting, &tiny::recipe(model, CanaryKind::Random));
                all = all.max(compare(&plan, &trainer(&plan), 2));
            }
        }
    }
    all
}

/// All canaries, several targets, and adversaries that debias.
pub fn all_canaries<A: Accelerator>(trainer: impl Fn(&TrainingPlan) -> Trainer<A>) -> f64 {
    let mut all: f64 = 0.0;
    for model in [tiny::PERCEPTRON, tiny::CONVOLUTIONS] {
        for canary in CanaryKind::all().iter().copied() {
            for (canaries, debias, threat_model) in [
                (1, true, ThreatModel::TargetCanary),
                (3, false, ThreatModel::PartiallyInformed),
                (2, true, ThreatModel::PartiallyInformed),
                (3, false, ThreatModel::WorstCase),
            ] {
                for scheme in [BatchScheme::Shuffle, BatchScheme::Poisson] {
                    let setting = Setting { threat_model, scheme, ..tiny::setting() };
                    let recipe = Recipe { canaries, debias, ..tiny::recipe(model, canary) };
                    let plan = philox(&setting, &recipe);
                    all = all.max(compare(&plan, &trainer(&plan), 1));
                }
            }
        }
    }
    all
}

/// More records than a tile has rows, gradients that are clipped and others that are not, another loss.
pub fn batches_norms_and_losses<A: Accelerator>(trainer: impl Fn(&TrainingPlan) -> Trainer<A>) -> f64 {
    let mut all: f64 = 0.0;
    for model in [tiny::PERCEPTRON, tiny::CONVOLUTIONS] {
        for clip_norm in [0.1, 1.0, 1000.0] {
            for loss in [Loss::SoftmaxCrossEntropy, Loss::SquaredError] {
                let setting = Setting {
                    steps_per_epoch: 2,
                    batch_size: 150,
                    epochs: 1,
                    threat_model: ThreatModel::TargetCanary,
                    ..tiny::setting()
                };
                let base = tiny::recipe(model, CanaryKind::NullSpace);
                let model = Blueprint { loss, ..base.model.clone() };
                // A noisy step must not throw the model where f32 and f64 part: the noise grows with the clipping norm.
                let recipe = Recipe { clip_norm, model, learning_rate: 0.1 / clip_norm, ..base };
                let plan = philox(&setting, &recipe);
                all = all.max(compare(&plan, &trainer(&plan), 1));
            }
        }
    }
    all
}

/// The paper's models (the CNN on smaller images), on records of noise, and one whose sizes fit no tile.
pub fn models() -> [(Blueprint, Shape, u16); 4] {
    let image = |channels, height, width| Shape { channels, height, width };
    let odd = "
        name = 'odd'
        layers = [
            { kind = 'convolution', filters = 13, size = 7, padding = 3 }, { kind = 'relu' }, { kind = 'max-pooling', size = 3 },
            { kind = 'convolution', filters = 11, size = 4, padding = 1 }, { kind = 'average-pooling', size = 2 },
            { kind = 'convolution', filters = 1, size = 1 }, { kind = 'tanh' },
            { kind = 'linear', outputs = 37 }, { kind = 'relu' }, { kind = 'linear' },
        ]";
    [
        (Blueprint::named("mlp").unwrap(), Shape::flat(600), 100),
        (Blueprint::named("lenet").unwrap(), image(1, 28, 28), 2),
        (Blueprint::named("cnn").unwrap(), image(3, 8, 8), 2),
        (Blueprint::from_toml(odd).unwrap(), image(2, 20, 23), 5),
    ]
}

/// Two steps of one of these models, in batches of `batch_size`.
pub fn two_steps<A: Accelerator>(
    (blueprint, shape, classes): &(Blueprint, Shape, u16),
    batch_size: u64,
    trainer: impl Fn(&TrainingPlan) -> Trainer<A>,
) -> f64 {
    let setting = Setting {
        steps_per_epoch: 2,
        batch_size,
        epochs: 1,
        target_index: 0,
        threat_model: ThreatModel::PartiallyInformed,
        ..Setting::default()
    };
    let recipe = Recipe::new(blueprint.clone());
    let dataset = tiny::noise(*shape, *classes, 2 * batch_size as usize);
    let plan = TrainingPlan::with_stream(&setting, &recipe, dataset, Stream::philox).unwrap();
    compare(&plan, &trainer(&plan), 1)
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
