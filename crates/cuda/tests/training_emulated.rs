//! The kernels of trainings, run on the processor, against the reference in f64: trial by trial.

mod agreement;
mod emulation;
#[path = "../../train/tests/tiny/mod.rs"]
mod tiny;

use agreement::{compare, philox};
use emulation::Emulator;
use misdeal_core::{BatchScheme, Setting, ThreatModel};
use misdeal_cuda::training::{Precision, Trainer, Tuning};
use misdeal_train::data::Shape;
use misdeal_train::{Blueprint, CanaryKind, Recipe, TrainingPlan};

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

/// Every kind of tile. The paper's larger models are left to devices.
#[test]
fn the_paper_s_models_and_odd_sizes() {
    if !emulation::is_there() {
        return;
    }
    for model in agreement::models() {
        let largest = agreement::two_steps(&model, 19, emulated);
        println!("{}: {largest:.2e}", model.0.name);
    }
}

#[test]
fn perceptrons_on_bits() {
    if emulation::is_there() {
        println!("{:.2e}", agreement::perceptrons(emulated));
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
    let [.., odd] = agreement::models();
    let base = Tuning { models: Some(2), ..Tuning::default() };
    for (model, tuning) in [
        (&wide, Tuning { most_columns: 128, ..base }),
        (&wide, Tuning { most_columns: 128, stages: 3, large: false, ..base }),
        (&odd, Tuning { direct: false, stages: 3, ..base }),
        (&odd, Tuning { direct: false, large: false, ..base }),
    ] {
        let largest = agreement::two_steps(model, 19, |plan| {
            Trainer::on(plan, vec![Emulator::default()], Precision::F32, tuning).unwrap()
        });
        println!("{}: {largest:.2e}", model.0.name);
    }
}
