//! Data and models small enough to train thousands of times.

use misdeal_core::{BatchScheme, Blueprint, CanaryKind, Recipe, Setting};
use misdeal_train::TrainingPlan;
use misdeal_train::data::{Dataset, Examples, Shape};
use std::sync::Arc;

/// Images of 1 x 6 x 6 in three classes that a model can learn: a bright row, a bright column, or neither.
pub fn dataset(records: usize) -> Arc<Dataset> {
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let mut examples = |records: usize| {
        let labels: Vec<u16> = (0..records).map(|_| (next() % 3) as u16).collect();
        let mut features = Vec::with_capacity(36 * records);
        for label in &labels {
            let at = next() as usize % 6;
            for place in 0..36 {
                let bright = (*label == 0 && place / 6 == at) || (*label == 1 && place % 6 == at);
                features.push(f32::from(u8::from(bright)) + next() as f32 / 33_554_432.0);
            }
        }
        Examples { shape: Shape { channels: 1, height: 6, width: 6 }, features, labels }
    };
    let (train, test) = (examples(records), examples(50));
    Arc::new(Dataset { name: "tiny".into(), classes: 3, train, test: Some(test) })
}

/// Records of random noise with random labels.
pub fn noise(shape: Shape, classes: u16, records: usize) -> Arc<Dataset> {
    let mut state = 11_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let features = (0..records * shape.features()).map(|_| next() as f32 / 8_388_608.0 - 1.0).collect();
    let labels = (0..records).map(|_| (next() % u32::from(classes)) as u16).collect();
    let train = Examples { shape, features, labels };
    Arc::new(Dataset { name: "noise".into(), classes: classes.into(), train, test: None })
}

/// A model with every kind of layer.
pub const CONVOLUTIONS: &str = "
    name = 'convolutions'
    layers = [
        { kind = 'convolution', filters = 3, size = 3, padding = 1 }, { kind = 'tanh' }, { kind = 'average-pooling', size = 2 },
        { kind = 'convolution', filters = 4, size = 2 }, { kind = 'relu' }, { kind = 'max-pooling', size = 2 },
        { kind = 'linear', outputs = 5 }, { kind = 'tanh' }, { kind = 'linear' },
    ]";

/// A model with two linear layers.
pub const PERCEPTRON: &str = "
    name = 'perceptron'
    layers = [{ kind = 'linear', outputs = 7 }, { kind = 'relu' }, { kind = 'linear' }]";

/// A recipe with a large learning rate, so that parameters change much in few steps.
///
/// # Panics
/// If `model` is not a valid description.
pub fn recipe(model: &str, canary: CanaryKind) -> Recipe {
    Recipe { learning_rate: 0.5, canary, ..Recipe::new(Blueprint::from_toml(model).unwrap()) }
}

/// All nine schemes.
///
/// # Panics
/// Never: all names are valid.
pub fn schemes() -> impl Iterator<Item = BatchScheme> {
    BatchScheme::NAMES
        .iter()
        .map(|name| BatchScheme::from_name(name, BatchScheme::has_buffer(name).then_some(11)).unwrap())
}

/// A setting of five steps of eight records, and two epochs.
pub fn setting() -> Setting {
    Setting {
        steps_per_epoch: 5,
        batch_size: 8,
        epochs: 2,
        target_index: 3,
        noise_multiplier: 0.7,
        ..Setting::default()
    }
}

/// A plan for the small data set of this module.
///
/// # Panics
/// If the setting or recipe is refused.
pub fn plan(setting: &Setting, recipe: &Recipe) -> TrainingPlan {
    TrainingPlan::new(setting, recipe, dataset(setting.dataset_size() as usize)).unwrap()
}
