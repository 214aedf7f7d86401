//! How many models a second are trained, one epoch of batches of 100 over 10,000 records, as one line of JSON:
//! `models_per_second MODEL f32|tf32 [models=N] [columns=N] [stages=N] [side=N] [small] [tiles] [apart] [unfused] [quick] [profile] [source]
//! [canaries=K] [random|dirac|null-space] [worst-case|target-canary]`.

use misdeal_core::{
    Blueprint, CanaryKind, ClosedSet, Error, Precision, Recipe, Setting, Stream, ThreatModel,
};
use misdeal_cuda::training::{Program, Trainer, Tuning};
use misdeal_train::data::{Dataset, Examples, Shape};
use misdeal_train::{MeasuredTrials, TrainingPlan};
use std::sync::Arc;
use std::time::Instant;

const RECORDS: usize = 10_000;

/// Records of noise: bits for the perceptron, as Purchase-100 has them.
fn dataset(model: &str) -> Arc<Dataset> {
    let (shape, classes) = match model {
        "mlp" => (Shape::flat(600), 100),
        "cnn" => (Shape { channels: 3, height: 32, width: 32 }, 2),
        _ => (Shape { channels: 1, height: 28, width: 28 }, 2),
    };
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let feature = |bits: u32| if model == "mlp" { (bits >> 23) as f32 } else { bits as f32 / 16_777_216.0 };
    let features = (0..RECORDS * shape.features()).map(|_| feature(next())).collect();
    let labels = (0..RECORDS).map(|_| (next() % classes) as u16).collect();
    let train = Examples { shape, features, labels };
    Arc::new(Dataset { name: "noise".into(), classes: classes as usize, train, test: None })
}

fn main() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let model = words.first().map_or("mlp", String::as_str);
    let precision = if words.iter().any(|word| word == "tf32") { Precision::Tf32 } else { Precision::F32 };
    let number = |name: &str| {
        words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('=')?.parse::<usize>().ok())
    };
    let has = |name: &str| words.iter().any(|word| word == name);
    let tuning = Tuning {
        most_columns: number("columns").unwrap_or(Tuning::default().most_columns),
        stages: number("stages").unwrap_or(Tuning::default().stages),
        large: !has("small"),
        direct: !has("tiles"),
        pools: !has("apart"),
        fused: !has("unfused"),
        models: number("side"),
    };
    let setting = Setting {
        noise_multiplier: 0.8,
        steps_per_epoch: 100,
        batch_size: 100,
        threat_model: words
            .iter()
            .find_map(|word| ThreatModel::from_name(word).ok())
            .unwrap_or(ThreatModel::PartiallyInformed),
        ..Setting::default()
    };
    let canary = words.iter().find_map(|word| CanaryKind::from_name(word).ok()).unwrap_or_default();
    let canaries = number("canaries").unwrap_or(1);
    let recipe = Recipe { canary, canaries, ..Recipe::new(Blueprint::named(model)?) };
    let plan = TrainingPlan::with_stream(&setting, &recipe, dataset(model), Stream::philox)?
        .with_measured_trials(MeasuredTrials::None);
    if has("source") {
        println!("{}", Program::new(&plan, precision, tuning, 227 * 1024).source());
        return Ok(());
    }
    let start = Instant::now();
    let trainer = if has("profile") { Trainer::profiled } else { Trainer::new }(&plan, precision, tuning)?;
    let ready = start.elapsed().as_secs_f64();
    let trials = number("models").map_or(trainer.trials_per_checkpoint(), |models| models as u64 / 2);
    if !has("profile") {
        trainer.score(0..1, &|| false, &|| ())?;
    }
    let mut seconds = vec![];
    for part in 0..if has("profile") || has("quick") { 1 } else { 3 } {
        let start = Instant::now();
        let batch = trainer.score(part * trials..(part + 1) * trials, &|| false, &|| ())?;
        assert!(batch.is_some_and(|batch| batch.scores_in.iter().all(|score| score.is_finite())));
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    let models = 2.0 * trials as f64;
    let speed = models / seconds[seconds.len() / 2];
    let profile: Vec<String> = trainer
        .profile()
        .iter()
        .map(|(name, (seconds, launches))| format!("\"{name}\": [{seconds:.5}, {launches}]"))
        .collect();
    println!(
        "{{\"model\": \"{model}\", \"precision\": \"{precision:?}\", \"columns\": {}, \"stages\": {}, \"large\": {}, \"direct\": {}, \"pools\": {}, \"fused\": {}, \"side_by_side\": {}, \
         \"threat_model\": \"{}\", \"canary\": \"{canary}\", \"canaries\": {canaries}, \"models\": {models}, \"seconds\": {seconds:.4?}, \"seconds_to_get_ready\": {ready:.2}, \"models_per_second\": {speed:.2}, \
         \"useful_tflops\": {:.2}, \"profile\": {{{}}}}}",
        tuning.most_columns,
        tuning.stages,
        tuning.large,
        tuning.direct,
        tuning.pools,
        tuning.fused,
        trainer.models_side_by_side(),
        setting.threat_model,
        1e-12 * speed * plan.operations_per_model(),
        profile.join(", ")
    );
    Ok(())
}
