//! Models a second and arithmetic a second: one epoch of batches of 100 over 10,000 records, partially informed, noise
//! multiplier 0.8, as the peers in `bench/` train them. `cargo bench -p misdeal-train [-- mlp lenet cnn] [-- --json]`.

use misdeal_core::{BatchScheme, Blueprint, Recipe, Setting, ThreatModel};
use misdeal_train::data::{Dataset, Examples, Shape};
use misdeal_train::{MeasuredTrials, TrainingPlan};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const RECORDS: usize = 10_000;

/// Records of noise: times do not depend on what is learned.
fn noise(shape: Shape, classes: u16) -> Arc<Dataset> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let features = (0..RECORDS * shape.features()).map(|_| next() as f32 / 16_777_216.0).collect();
    let labels = (0..RECORDS).map(|_| (next() % u32::from(classes)) as u16).collect();
    let train = Examples { shape, features, labels };
    Arc::new(Dataset { name: "noise".into(), classes: classes.into(), train, test: None })
}

fn plan(model: &str) -> TrainingPlan {
    let (shape, classes) = match model {
        "mlp" => (Shape::flat(600), 100),
        "lenet" => (Shape { channels: 1, height: 28, width: 28 }, 2),
        _ => (Shape { channels: 3, height: 32, width: 32 }, 2),
    };
    let setting = Setting {
        noise_multiplier: 0.8,
        steps_per_epoch: 100,
        batch_size: 100,
        scheme: BatchScheme::Shuffle,
        threat_model: ThreatModel::PartiallyInformed,
        ..Setting::default()
    };
    let recipe = Recipe::new(Blueprint::named(model).expect("a model of the paper"));
    TrainingPlan::new(&setting, &recipe, noise(shape, classes)).expect("they fit")
}

/// The most operations a second of one core, from the clock: 32 a cycle in f32 on Zen 4. The clock is that of the fastest of
/// many short chains of dependent operations, which a busy machine does not slow down.
fn peak() -> f64 {
    const LINKS: u64 = 1_000_000;
    let chain = || {
        let start = Instant::now();
        let mut chain = black_box(1_u64);
        for i in 0..LINKS {
            chain = (chain ^ i).rotate_left(7);
        }
        black_box(chain);
        start.elapsed().as_secs_f64()
    };
    let seconds = (0..100).map(|_| chain()).fold(f64::INFINITY, f64::min);
    32.0 * 2.0 * LINKS as f64 / seconds
}

/// Seconds that all threads of this process have computed, where the system tells: what a busy machine does not change.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let ticks = stat.rsplit(')').next()?.split_whitespace().skip(11).take(2);
    Some(ticks.map(|ticks| ticks.parse::<f64>().unwrap_or(0.0)).sum::<f64>() / 100.0)
}

/// Models a second, by the clock and by the processors' own time.
fn rates(plan: &TrainingPlan, trials: u64) -> (f64, f64) {
    let (start, before) = (Instant::now(), processor_seconds());
    black_box(plan.score(0..trials, &|| false, &|| ()));
    let models = 2.0 * trials as f64;
    let seconds = before.zip(processor_seconds()).map_or(f64::NAN, |(before, after)| after - before);
    (models / start.elapsed().as_secs_f64(), models / seconds)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    let cores = rayon::current_num_threads();
    let peak = peak();
    for (model, trials) in [("mlp", 200), ("lenet", 8), ("cnn", 1)] {
        let asked = arguments.iter().any(|argument| argument == model);
        let all = !arguments.iter().any(|argument| Blueprint::NAMES.contains(&argument.as_str()));
        if !(asked || all && model != "cnn") {
            continue;
        }
        let with_accuracy = plan(model);
        let plan = with_accuracy.clone().with_measured_trials(MeasuredTrials::None);
        plan.score(0..1, &|| false, &|| ());
        let (models, per_processor) = rates(&plan, trials);
        let (measured, _) = rates(&with_accuracy, trials);
        let operations = per_processor * plan.operations_per_model();
        let (bytes, parameters) = (plan.workspace_bytes(), plan.model().parameters);
        if json {
            println!(
                "{{\"model\": \"{model}\", \"parameters\": {parameters}, \"cores\": {cores}, \
                 \"models_per_second\": {models}, \"models_per_second_with_accuracy\": {measured}, \
                 \"models_per_processor_second\": {per_processor}, \"gflops_per_core\": {}, \"share_of_peak\": {}, \
                 \"workspace_bytes\": {bytes}}}",
                operations / 1e9,
                operations / peak
            );
        } else {
            println!(
                "{model:6} {models:7.2} models/s on {cores} cores ({measured:.2} with their training accuracy); \
                 {per_processor:.2} a processor second: {:.1} GFLOP/s, {:.0} % of {:.0}; {:.1} MB a core",
                operations / 1e9,
                100.0 * operations / peak,
                peak / 1e9,
                bytes as f64 / 1e6
            );
        }
    }
}
