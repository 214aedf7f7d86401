//! The kernels of trainings, run on the processor, against the reference in f64: trial by trial.

use crate::agreement::{self, compare, philox};
use crate::emulation::{self, Emulator};
use misdeal_core::{BatchScheme, Blueprint, CanaryKind, Precision, Recipe, Setting, ThreatModel};
use misdeal_cuda::training::{Trainer, Tuning};
use misdeal_testkit::{tiny, trainings};
use misdeal_train::TrainingPlan;
use misdeal_train::data::Shape;

fn emulated(plan: &TrainingPlan) -> Trainer<Emulator> {
    Trainer::on(
        plan,
        vec![Emulator::default()],
        Precision::F32,
        Tuning { models: Some(4), ..Tuning::default() },
    )
    .unwrap()
}

#[test]
fn every_kind_of_layer() {
    if !emulation::is_there() {
        return;
    }
    for model in [tiny::PERCEPTRON, tiny::CONVOLUTIONS] {
        let setting = Setting { threat_model: ThreatModel::PartiallyInformed, epochs: 1, ..tiny::setting() };
        let recipe = tiny::recipe(model, CanaryKind::Random);
        let plan = philox(&setting, &recipe);
        compare(&plan, &emulated(&plan), 2);
    }
}

#[test]
fn random_batch_sizes_debiasing_and_several_canaries() {
    if !emulation::is_there() {
        return;
    }
    for (model, scheme, threat_model, canary) in [
        (tiny::PERCEPTRON, BatchScheme::Poisson, ThreatModel::PartiallyInformed, CanaryKind::NullSpace),
        (tiny::CONVOLUTIONS, BatchScheme::BallsInBins, ThreatModel::TargetCanary, CanaryKind::Random),
        (tiny::PERCEPTRON, BatchScheme::BatchThenShuffle, ThreatModel::WorstCase, CanaryKind::Dirac),
    ] {
        let setting = Setting { scheme, threat_model, ..tiny::setting() };
        let canaries = if threat_model == ThreatModel::WorstCase { 1 } else { 2 };
        let recipe = Recipe { canaries, debias: true, ..tiny::recipe(model, canary) };
        let plan = philox(&setting, &recipe);
        compare(&plan, &emulated(&plan), 1);
    }
}

fn two_steps_of(model: &(Blueprint, Shape, u16)) {
    if emulation::is_there() {
        println!("{}: {:.2e}", model.0.name, agreement::two_steps(model, 19, emulated));
    }
}

/// With the next three, every kind of tile.
#[test]
fn mlp() {
    two_steps_of(&trainings::models()[0]);
}

#[test]
fn lenet() {
    two_steps_of(&trainings::models()[1]);
}

#[test]
fn cnn() {
    two_steps_of(&trainings::models()[2]);
}

#[test]
fn odd_sizes() {
    two_steps_of(&trainings::models()[3]);
}

#[test]
fn perceptrons_on_bits() {
    if emulation::is_there() {
        println!("{:.2e}", agreement::perceptrons(emulated));
    }
}

#[test]
fn many_canaries() {
    if emulation::is_there() {
        println!("{:.2e}", agreement::many_canaries(emulated));
    }
}

/// Whatever may be tuned computes the same.
#[test]
fn variants_of_tiles() {
    if !emulation::is_there() {
        return;
    }
    let wide = "
        name = 'wide'
        layers = [
            { kind = 'convolution', filters = 136, size = 3, padding = 1 }, { kind = 'tanh' }, { kind = 'average-pooling', size = 2 },
            { kind = 'linear', outputs = 130 }, { kind = 'relu' }, { kind = 'linear' },
        ]";
    let image = Shape { channels: 4, height: 6, width: 5 };
    let wide = (Blueprint::from_toml(wide).unwrap(), image, 5);
    let [.., odd] = trainings::models();
    let base = Tuning { models: Some(2), ..Tuning::default() };
    for (model, tuning) in [
        (&wide, Tuning { most_columns: 128, ..base }),
        (&wide, Tuning { most_columns: 128, stages: 3, large: false, ..base }),
        (&odd, Tuning { pools: false, ..base }),
        (&odd, Tuning { direct: false, stages: 3, ..base }),
        (&odd, Tuning { direct: false, large: false, ..base }),
    ] {
        let largest = agreement::two_steps(model, 19, |plan| {
            Trainer::on(plan, vec![Emulator::default()], Precision::F32, tuning).unwrap()
        });
        println!("{}: {largest:.2e}", model.0.name);
    }
}
