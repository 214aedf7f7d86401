//! Trainings on a graphics processor against the reference on the same stream, and their laws. Where there is none, every test says so and is skipped.

use crate::agreement::{self, philox};
use misdeal_core::{Blueprint, CanaryKind, Precision, Recipe, Setting, ThreatModel, World};
use misdeal_cuda::training::{Trainer, Tuning};
use misdeal_testkit::{skip, tiny, trainings};
use misdeal_train::data::Shape;
use misdeal_train::{MeasuredTrials, TrainingPlan};

fn on_device(plan: &TrainingPlan, precision: Precision) -> Trainer {
    Trainer::new(plan, precision, Tuning { models: Some(64), ..Tuning::default() }).unwrap()
}

fn f32(plan: &TrainingPlan) -> Trainer {
    on_device(plan, Precision::F32)
}

fn tiny_plan() -> TrainingPlan {
    let setting = Setting { threat_model: ThreatModel::PartiallyInformed, ..tiny::setting() };
    philox(&setting, &tiny::recipe(tiny::CONVOLUTIONS, CanaryKind::Random))
}

/// Whether there is a device; a device that is there and fails is no reason to skip.
fn is_there() -> bool {
    match Trainer::new(&tiny_plan(), Precision::F32, Tuning::default()) {
        Ok(_) => true,
        Err(reason) if reason.is_missing() => {
            skip(&reason);
            assert!(std::env::var_os("MISDEAL_NEEDS_CUDA").is_none(), "{reason}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

fn two_steps_of(model: &(Blueprint, Shape, u16)) {
    if !is_there() {
        return;
    }
    for batch_size in [19, 100] {
        let largest = agreement::two_steps(model, batch_size, f32);
        println!("{} in batches of {batch_size}: {largest:.2e}", model.0.name);
    }
}

#[test]
fn a_mlp() {
    two_steps_of(&trainings::models()[0]);
}

#[test]
fn a_lenet() {
    two_steps_of(&trainings::models()[1]);
}

#[test]
fn a_cnn() {
    two_steps_of(&trainings::models()[2]);
}

#[test]
fn a_odd_sizes() {
    two_steps_of(&trainings::models()[3]);
}

#[test]
fn a_perceptrons_on_bits() {
    if is_there() {
        println!("{:.2e}", agreement::perceptrons(f32));
    }
}

#[test]
fn b_all_schemes_and_threat_models() {
    if is_there() {
        println!("{:.2e}", agreement::compare_all(trainings::all_schemes_and_threat_models(), f32));
    }
}

#[test]
fn c_all_canaries_several_targets_and_debiasing() {
    if is_there() {
        println!("{:.2e}", agreement::compare_all(trainings::all_canaries(), f32));
    }
}

#[test]
fn c_many_canaries() {
    if is_there() {
        println!("{:.2e}", agreement::many_canaries(f32));
    }
}

#[test]
fn d_large_batches_clipping_norms_and_losses() {
    if is_there() {
        println!("{:.2e}", agreement::compare_all(trainings::batches_norms_and_losses(), f32));
    }
}

/// Scores depend neither on how trials are split, nor on how many models are trained side by side.
#[test]
fn e_a_model_does_not_depend_on_its_company() {
    if !is_there() {
        return;
    }
    let plan = tiny_plan();
    let score = |trainer: &Trainer, trials| trainer.score(trials, &|| false, &|| ()).unwrap().unwrap();
    let together = f32(&plan);
    let alone = Trainer::new(&plan, Precision::F32, Tuning { models: Some(2), ..Tuning::default() }).unwrap();
    let whole = score(&together, 0..101);
    assert_eq!(whole.scores_in.len(), 101);
    let (first, second) = (score(&together, 0..3), score(&alone, 3..101));
    assert_eq!(whole.scores_in, [first.scores_in, second.scores_in].concat());
    assert_eq!(whole.scores_out, [first.scores_out, second.scores_out].concat());
    let mut utility = first.utility;
    utility.merge(&second.utility);
    assert_eq!(whole.utility, utility);
    assert!(together.score(0..101, &|| true, &|| ()).unwrap().is_none(), "cancelled");
}

/// Whole trainings: the largest difference of an output from a processor's in f32, on the same stream, in all steps.
///
/// The CNN's deep chain of ReLUs and largest values magnifies roundings from step to step, whichever device rounds: 1.4e-3 was measured after 50 steps
/// that each agree to 3e-7.
#[test]
fn f_whole_trainings_stay_together() {
    if !is_there() {
        return;
    }
    for (model, records) in trainings::models().into_iter().zip([10_000, 2_000, 1_000, 1_000]) {
        let setting = Setting {
            steps_per_epoch: records / 20,
            batch_size: 20,
            noise_multiplier: 0.8,
            threat_model: ThreatModel::PartiallyInformed,
            ..Setting::default()
        };
        let dataset = tiny::noise(model.1, model.2, records as usize);
        let recipe = Recipe::new(model.0.clone());
        let plan = TrainingPlan::with_stream(&setting, &recipe, dataset, misdeal_core::Stream::philox)
            .unwrap()
            .with_measured_trials(MeasuredTrials::None);
        let there = plan.train(&mut plan.workspace(), World::In, 5, &|| false).unwrap().outputs;
        let of_f32 = if model.0.name == "cnn" { 5e-3 } else { 1e-4 };
        for (precision, allowed) in [(Precision::F32, of_f32), (Precision::Tf32, 3e-2)] {
            let ours = &on_device(&plan, precision).train(&[(5, World::In)]).unwrap()[0].outputs;
            let pairs = there.projections[0].iter().zip(&ours.projections[0]);
            let largest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            println!("{} {precision:?}: {largest:.2e} in {} steps", model.0.name, setting.steps_per_epoch);
            assert!(largest < allowed, "{} {precision:?}: {largest}", model.0.name);
        }
    }
}

/// Scores on a device, in either precision, have the law of a processor's scores: Kolmogorov and Smirnov's distance of 2,000 and 2,000, with a
/// false-alarm rate of 1e-6 over the four comparisons.
#[test]
fn g_scores_have_the_law_of_a_processor_s() {
    if !is_there() {
        return;
    }
    let trials = 2_000;
    let plan = tiny_plan().with_measured_trials(MeasuredTrials::None);
    let processor = TrainingPlan::new(plan.setting(), plan.recipe(), tiny::dataset(40))
        .unwrap()
        .with_measured_trials(MeasuredTrials::None);
    let theirs = processor.score(0..trials, &|| false, &|| ()).unwrap();
    let limit = (-0.5 * (1e-6_f64 / 8.0).ln() * 2.0 / trials as f64).sqrt();
    for precision in [Precision::F32, Precision::Tf32] {
        let trainer = Trainer::new(&plan, precision, Tuning::default()).unwrap();
        let ours = trainer.score(0..trials, &|| false, &|| ()).unwrap().unwrap();
        for (a, b) in [(&ours.scores_in, &theirs.scores_in), (&ours.scores_out, &theirs.scores_out)] {
            let distance = distance(a, b);
            println!("{precision:?}: {distance:.4} of {limit:.4}");
            assert!(distance < limit);
        }
    }
}

/// The largest difference of two distribution functions.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let sorted = |scores: &[f64]| {
        let mut scores = scores.to_vec();
        scores.sort_by(f64::total_cmp);
        scores
    };
    let (a, b) = (sorted(a), sorted(b));
    let share = |scores: &[f64], at: f64| scores.partition_point(|&s| s <= at) as f64 / scores.len() as f64;
    a.iter().chain(&b).map(|&at| (share(&a, at) - share(&b, at)).abs()).fold(0.0, f64::max)
}
