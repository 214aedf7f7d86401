//! Trainings on which every engine must agree with the reference.

use crate::tiny;
use misdeal_core::{BatchScheme, Blueprint, CanaryKind, ClosedSet, Loss, Recipe, Setting, ThreatModel};
use misdeal_train::data::Shape;
use misdeal_train::reference::ModelOutputs;
use misdeal_train::{TrainingPlan, scores};

/// The largest difference allowed of an output or a parameter.
pub const OUTPUTS: f64 = 2e-5;
/// The largest difference allowed of a score, which sums ten outputs over s^2.
pub const SCORES: f64 = 2e-4;

/// A training of the tiny data set.
pub struct TinyTraining {
    /// Noise, batches and adversary.
    pub setting: Setting,
    /// Model and canaries.
    pub recipe: Recipe,
    /// How many trials to compare.
    pub trials: u64,
}

/// All schemes and threat models, on models with every kind of layer.
pub fn all_schemes_and_threat_models() -> Vec<TinyTraining> {
    let mut all = Vec::new();
    for model in [tiny::PERCEPTRON, tiny::CONVOLUTIONS] {
        for scheme in tiny::schemes() {
            for &threat_model in ThreatModel::all() {
                let setting = Setting { scheme, threat_model, ..tiny::setting() };
                all.push(TinyTraining {
                    setting,
                    recipe: tiny::recipe(model, CanaryKind::Random),
                    trials: 2,
                });
            }
        }
    }
    all
}

/// All canaries, several targets, and adversaries that debias.
pub fn all_canaries() -> Vec<TinyTraining> {
    let mut all = Vec::new();
    for model in [tiny::PERCEPTRON, tiny::CONVOLUTIONS] {
        for &canary in CanaryKind::all() {
            for (canaries, debias, threat_model) in [
                (1, true, ThreatModel::TargetCanary),
                (6, false, ThreatModel::PartiallyInformed),
                (2, true, ThreatModel::PartiallyInformed),
                (6, false, ThreatModel::WorstCase),
            ] {
                for scheme in [
                    BatchScheme::Shuffle,
                    BatchScheme::ShuffleOnce,
                    BatchScheme::WithoutReplacement,
                    BatchScheme::Poisson,
                ] {
                    let setting = Setting { threat_model, scheme, ..tiny::setting() };
                    let recipe = Recipe { canaries, debias, ..tiny::recipe(model, canary) };
                    all.push(TinyTraining { setting, recipe, trials: 1 });
                }
            }
        }
    }
    all
}

/// Returns trainings with many records, with clipped and unclipped gradients, and with another loss.
pub fn batches_norms_and_losses() -> Vec<TinyTraining> {
    let mut all = Vec::new();
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
                all.push(TinyTraining { setting, recipe, trials: 1 });
            }
        }
    }
    all
}

/// The paper's models (the CNN on smaller images), and one whose sizes fit no tile.
///
/// # Panics
/// Never: the models are fixed.
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
pub fn two_steps(batch_size: u64) -> Setting {
    Setting {
        steps_per_epoch: 2,
        batch_size,
        epochs: 1,
        target_index: 0,
        threat_model: ThreatModel::PartiallyInformed,
        ..Setting::default()
    }
}

/// Compares outputs, biases, what a debiasing adversary expects, parameters and scores; gives the largest difference of an output.
///
/// # Panics
/// They differ by more than is allowed.
pub fn assert_agreement(plan: &TrainingPlan, exact: &ModelOutputs, ours: &ModelOutputs, what: &str) -> f64 {
    let of_outputs = largest(&exact.projections, &ours.projections);
    let of_biases = largest(&exact.biases, &ours.biases);
    assert!(of_outputs < OUTPUTS * plan.adversary().recentring().max(1.0), "{of_outputs} {what}");
    assert!(of_biases < OUTPUTS, "{of_biases} {what}");
    assert_eq!(exact.expected.len(), ours.expected.len());
    for (a, b) in exact.expected.iter().flatten().zip(ours.expected.iter().flatten()) {
        let is_near = (a.mean - b.mean).abs() < OUTPUTS && (a.variance - b.variance).abs() < OUTPUTS;
        assert!(is_near, "{a:?} {b:?} {what}");
    }
    assert_eq!(exact.parameters.len(), ours.parameters.len());
    let pairs = exact.parameters.iter().zip(&ours.parameters);
    let of_parameters = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(of_parameters < OUTPUTS, "{of_parameters} {what}");
    for (a, b) in scores(plan, exact).iter().zip(scores(plan, ours)) {
        assert!((a - b).abs() < SCORES * a.abs().max(1.0), "{a} {b} {what}");
    }
    of_outputs
}

fn largest(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    assert_eq!((a.len(), a[0].len()), (b.len(), b[0].len()));
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
