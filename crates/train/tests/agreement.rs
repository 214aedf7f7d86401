//! The engine against the reference, trial by trial: f32 with fused kernels against f64 with every gradient written out.

use misdeal_core::ClosedSet;
use misdeal_testkit::tiny;

use misdeal_core::{
    BatchScheme, Blueprint, CanaryKind, Loss, PHILOX_STREAM_NAME, Recipe, Setting, Stream, ThreatModel, World,
};
use misdeal_train::data::Shape;
use misdeal_train::reference;
use misdeal_train::{InstructionSet, TrainingPlan, scores};

/// The largest difference allowed: of an output, of a parameter, and of a score (which sums ten outputs over s^2).
const OUTPUTS: f64 = 2e-5;
const SCORES: f64 = 2e-4;

fn compare(plan: &TrainingPlan, trials: u64) {
    let mut workspace = plan.workspace();
    for (trial, world) in (0..trials).flat_map(|trial| World::BOTH.map(|world| (trial, world))) {
        let exact = reference::train(plan, world, trial);
        let ours = plan.train(&mut workspace, world, trial, &|| false).unwrap().outputs;
        let what = format!("{:?} {:?} trial {trial} {world:?}", plan.setting(), plan.recipe());
        let largest = |a: &[Vec<f64>], b: &[Vec<f64>]| {
            assert_eq!((a.len(), a[0].len()), (b.len(), b[0].len()));
            a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let of_outputs = largest(&exact.projections, &ours.projections);
        let of_biases = largest(&exact.biases, &ours.biases);
        assert!(of_outputs < OUTPUTS * plan.adversary().recentring().max(1.0), "{of_outputs} {what}");
        assert!(of_biases < OUTPUTS, "{of_biases} {what}");
        assert_eq!(exact.expected.len(), ours.expected.len());
        for (a, b) in exact.expected.iter().flatten().zip(ours.expected.iter().flatten()) {
            assert!(
                (a.mean - b.mean).abs() < OUTPUTS && (a.variance - b.variance).abs() < OUTPUTS,
                "{a:?} {b:?}"
            );
        }
        let pairs = exact.parameters.iter().zip(&ours.parameters);
        let of_parameters = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(of_parameters < OUTPUTS, "{of_parameters} {what}");
        for (a, b) in scores(plan, &exact).iter().zip(scores(plan, &ours)) {
            assert!((a - b).abs() < SCORES * a.abs().max(1.0), "{a} {b} {what}");
        }
    }
}

#[test]
fn all_schemes_and_threat_models() {
    for model in [tiny::PERCEPTRON, tiny::CONVOLUTIONS] {
        for scheme in tiny::schemes() {
            for threat_model in ThreatModel::all().iter().copied() {
                let setting = Setting { scheme, threat_model, ..tiny::setting() };
                compare(&tiny::plan(&setting, &tiny::recipe(model, CanaryKind::Random)), 2);
            }
        }
    }
}

#[test]
fn all_canaries_several_targets_and_debiasing() {
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
                    compare(&tiny::plan(&setting, &recipe), 1);
                }
            }
        }
    }
}

/// More records than the engine keeps at a time, gradients that are clipped and others that are not, another loss.
#[test]
fn large_batches_clipping_norms_and_losses() {
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
                compare(&tiny::plan(&setting, &recipe), 1);
            }
        }
    }
}

/// On the stream of graphics processors too: what devices are compared with.
#[test]
fn another_stream() {
    let setting = Setting { threat_model: ThreatModel::PartiallyInformed, ..tiny::setting() };
    let recipe = tiny::recipe(tiny::CONVOLUTIONS, CanaryKind::Random);
    let dataset = tiny::dataset(setting.dataset_size() as usize);
    let plan = TrainingPlan::with_stream(&setting, &recipe, dataset, Stream::philox).unwrap();
    assert_eq!(plan.stream().name(), PHILOX_STREAM_NAME);
    compare(&plan, 3);
}

/// The paper's models (the CNN on smaller images), and one whose sizes fit no tile: every kind of tile is used.
#[test]
fn the_paper_s_models_and_odd_sizes() {
    let image = |channels, height, width| Shape { channels, height, width };
    let odd = "
        name = 'odd'
        layers = [
            { kind = 'convolution', filters = 13, size = 7, padding = 3 }, { kind = 'relu' }, { kind = 'max-pooling', size = 3 },
            { kind = 'convolution', filters = 11, size = 4, padding = 1 }, { kind = 'average-pooling', size = 2 },
            { kind = 'convolution', filters = 1, size = 1 }, { kind = 'tanh' },
            { kind = 'linear', outputs = 37 }, { kind = 'relu' }, { kind = 'linear' },
        ]";
    for (blueprint, shape, classes) in [
        (Blueprint::named("mlp"), Shape::flat(600), 100),
        (Blueprint::named("lenet"), image(1, 28, 28), 2),
        (Blueprint::named("cnn"), image(3, 8, 8), 2),
        (Blueprint::from_toml(odd), image(2, 20, 23), 5),
    ] {
        let setting = Setting {
            steps_per_epoch: 2,
            batch_size: 19,
            epochs: 1,
            target_index: 0,
            threat_model: ThreatModel::PartiallyInformed,
            ..Setting::default()
        };
        let recipe = Recipe::new(blueprint.unwrap());
        let plan = TrainingPlan::new(&setting, &recipe, tiny::noise(shape, classes, 38)).unwrap();
        compare(&plan, 1);
        let [first, rest @ ..] = &InstructionSet::available()
            .map(|set| {
                let plan = plan.clone().with_instruction_set(set);
                plan.train(&mut plan.workspace(), World::In, 0, &|| false)
            })
            .collect::<Vec<_>>()[..]
        else {
            panic!("plain Rust runs everywhere")
        };
        assert!(rest.iter().all(|other| other == first), "instruction sets differ");
    }
}
