//! Compares tiny trainings with a reference in f64.

use super::Found;
use misdeal_core::{Blueprint, Precision, Recipe, Setting, SettingHash, Stream, ThreatModel, World};
use misdeal_cuda::training::{Trainer, Tuning};
use misdeal_train::data::{Shape, Synthetic};
use misdeal_train::reference::{self, ModelOutputs};
use misdeal_train::{InstructionSet, TrainingPlan};
use std::sync::Arc;

/// Largest difference of an output or a parameter that ten steps in f32 may cause.
const TOLERANCE: f64 = 2e-5;

/// The models: one with every kind of layer, and a perceptron.
const MODELS: [&str; 2] = [
    "name = 'convolutions'
     layers = [
        { kind = 'convolution', filters = 3, size = 3, padding = 1 }, { kind = 'tanh' }, { kind = 'average-pooling', size = 2 },
        { kind = 'convolution', filters = 4, size = 2 }, { kind = 'relu' }, { kind = 'max-pooling', size = 2 },
        { kind = 'linear', outputs = 5 }, { kind = 'tanh' }, { kind = 'linear' },
     ]",
    "name = 'perceptron'
     layers = [{ kind = 'linear', outputs = 7 }, { kind = 'relu' }, { kind = 'linear' }]",
];

/// Compares every instruction set of this processor with the reference.
pub(super) fn check(seed: u64) -> Found {
    let mut largest: f64 = 0.0;
    let mut models = 0;
    for plan in plans(seed, Stream::new)? {
        for world in World::BOTH {
            let exact = reference::train(&plan, world, 1);
            let mut first = None;
            for set in InstructionSet::available() {
                let plan = plan.clone().with_instruction_set(set);
                let ours = plan.train(&mut plan.workspace(), world, 1, &|| false);
                let ours = ours.ok_or("a training that nobody cancelled was cancelled")?.outputs;
                largest = largest.max(difference(&exact, &ours)?);
                if first.get_or_insert_with(|| ours.parameters.clone()) != &ours.parameters {
                    return Err(format!("instruction sets differ in bits: {set:?}"));
                }
                models += 1;
            }
        }
    }
    verdict(models, largest)
}

/// Compares a graphics processor with the reference on the same stream.
pub(super) fn check_cuda(seed: u64) -> Found {
    let mut largest: f64 = 0.0;
    let models: Vec<_> = (0..4).flat_map(|trial| World::BOTH.map(|world| (trial, world))).collect();
    for plan in plans(seed, Stream::philox)? {
        let trainer = Trainer::new(&plan, Precision::F32, Tuning::default()).map_err(super::message)?;
        let trained = trainer.train(&models).map_err(super::message)?;
        for (&(trial, world), ours) in models.iter().zip(trained) {
            largest = largest.max(difference(&reference::train(&plan, world, trial), &ours.outputs)?);
        }
    }
    verdict(MODELS.len() * models.len(), largest)
}

fn verdict(models: usize, largest: f64) -> Found {
    if largest >= TOLERANCE {
        return Err(format!("outputs or parameters differ from the reference by {largest:.1e}"));
    }
    Ok(format!("{models} models agree with the reference to {largest:.0e}"))
}

/// Returns a plan for each model, with the given stream.
fn plans(seed: u64, stream: fn(&SettingHash) -> Stream) -> Result<Vec<TrainingPlan>, String> {
    let shape = Shape { channels: 1, height: 6, width: 6 };
    let setting = Setting {
        steps_per_epoch: 5,
        batch_size: 8,
        epochs: 2,
        noise_multiplier: 0.7,
        threat_model: ThreatModel::PartiallyInformed,
        seed,
        ..Setting::default()
    };
    let dataset =
        Synthetic { shape, classes: 3, size: 40, test_size: 20, seed }.make().map_err(super::message)?;
    let dataset = Arc::new(dataset);
    MODELS
        .into_iter()
        .map(|model| {
            let model = Blueprint::from_toml(model).map_err(super::message)?;
            let recipe = Recipe { learning_rate: 0.5, ..Recipe::new(model) };
            TrainingPlan::with_stream(&setting, &recipe, Arc::clone(&dataset), stream).map_err(super::message)
        })
        .collect()
}

/// Returns the largest difference of an output, a bias or a parameter.
fn difference(exact: &ModelOutputs, ours: &ModelOutputs) -> Result<f64, String> {
    let flat = |outputs: &ModelOutputs| {
        let values = outputs.projections.iter().chain(&outputs.biases).flatten().copied();
        values.chain(outputs.parameters.iter().copied()).collect::<Vec<f64>>()
    };
    let (exact, ours) = (flat(exact), flat(ours));
    if exact.len() != ours.len() {
        return Err(format!("a training gave {} numbers, not {}", ours.len(), exact.len()));
    }
    let largest = exact.iter().zip(&ours).map(|(a, b)| (a - b).abs());
    Ok(largest.fold(0.0, |a, b| if b.is_nan() { f64::INFINITY } else { f64::max(a, b) }))
}
