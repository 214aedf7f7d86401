//! The kernels of trainings, run on the processor, against the reference in f64: trial by trial.

mod agreement;
mod emulation;
#[path = "../../train/tests/tiny/mod.rs"]
mod tiny;

use agreement::{compare, philox};
use emulation::Emulator;
use misdeal_core::{BatchScheme, Setting, ThreatModel};
use misdeal_cuda::training::{Precision, Trainer, Tuning};
use misdeal_train::{CanaryKind, Recipe, TrainingPlan};

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
