//! What does not fit is refused, with the field, the value, what is allowed and a way out.

use misdeal_core::{BatchScheme, CanaryKind, LastBatch, Recipe, Setting, ThreatModel};
use misdeal_testkit::tiny;
use misdeal_train::TrainingPlan;
use misdeal_train::data::Dataset;
use std::sync::Arc;

/// The refusal of a small training with one change.
fn refusal(change: impl Fn(&mut Setting, &mut Recipe, &mut Dataset)) -> String {
    let (mut setting, mut recipe) = (tiny::setting(), tiny::recipe(tiny::PERCEPTRON, CanaryKind::Random));
    let mut dataset = Dataset::clone(&tiny::dataset(45));
    assert!(TrainingPlan::new(&setting, &recipe, Arc::new(dataset.clone())).is_ok());
    change(&mut setting, &mut recipe, &mut dataset);
    let error = TrainingPlan::new(&setting, &recipe, Arc::new(dataset)).unwrap_err().to_string();
    assert!(!error.contains('\n') && error.contains("allowed") && error.contains(';'), "{error}");
    error
}

#[test]
fn every_refusal_names_its_field() {
    assert!(refusal(|_, r, _| r.learning_rate = -0.1).starts_with("learning_rate is -0.1"));
    assert!(refusal(|_, r, _| r.learning_rate = f64::NAN).starts_with("learning_rate is NaN"));
    assert!(refusal(|_, r, _| r.clip_norm = 0.0).starts_with("clip_norm is 0"));
    assert!(refusal(|s, _, _| s.noise_multiplier = 0.0).starts_with("noise_multiplier is 0"));
    assert!(refusal(|s, _, _| s.batch_size = 10).starts_with("dataset_size is 50, but at most 45"));
    assert!(refusal(|_, r, _| r.last_batch = LastBatch::Keep).starts_with("last_batch is keep"));
    assert!(refusal(|_, r, _| r.canaries = 0).starts_with("canaries is 0"));
    assert!(refusal(|_, r, _| r.canaries = 9).starts_with("canaries is 9, but a whole number from 1 to 8"));
    assert!(refusal(|s, r, _| (s.target_index, r.canaries) = (39, 2)).starts_with("canaries is 2"));
    assert!(
        refusal(|s, r, _| {
            (s.scheme, s.threat_model, r.canaries) =
                (BatchScheme::BatchThenShuffle, ThreatModel::WorstCase, 2);
        })
        .starts_with("canaries is 2, but 1")
    );
    assert!(refusal(|_, _, d| d.train.labels[4] = 3).starts_with("dataset is tiny"));
    assert!(refusal(|_, _, d| d.train.features[4] = f32::NAN).starts_with("dataset is tiny"));
    assert!(refusal(|_, _, d| d.train.features.truncate(9)).starts_with("dataset is tiny"));
    assert!(refusal(|_, r, _| r.model.layers.truncate(2)).starts_with("model is perceptron"));
}
