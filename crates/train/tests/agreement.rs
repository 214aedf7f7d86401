//! The engine against the reference, trial by trial: f32 with fused kernels against f64 with every gradient written out.

use misdeal_core::{CanaryKind, PHILOX_STREAM_NAME, Recipe, Setting, Stream, ThreatModel, World};
use misdeal_testkit::tiny;
use misdeal_testkit::trainings::{self, TinyTraining, assert_agreement};
use misdeal_train::{InstructionSet, TrainingPlan, reference};

fn compare(plan: &TrainingPlan, trials: u64) {
    let mut workspace = plan.workspace();
    for (trial, world) in (0..trials).flat_map(|trial| World::BOTH.map(|world| (trial, world))) {
        let exact = reference::train(plan, world, trial);
        let ours = plan.train(&mut workspace, world, trial, &|| false).unwrap().outputs;
        let what = format!("{:?} {:?} trial {trial} {world:?}", plan.setting(), plan.recipe());
        assert_agreement(plan, &exact, &ours, &what);
    }
}

fn compare_all(all: Vec<TinyTraining>) {
    for TinyTraining { setting, recipe, trials } in all {
        compare(&tiny::plan(&setting, &recipe), trials);
    }
}

#[test]
fn all_schemes_and_threat_models() {
    compare_all(trainings::all_schemes_and_threat_models());
}

#[test]
fn all_canaries_several_targets_and_debiasing() {
    compare_all(trainings::all_canaries());
}

#[test]
fn large_batches_clipping_norms_and_losses() {
    compare_all(trainings::batches_norms_and_losses());
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
    for (blueprint, shape, classes) in trainings::models() {
        let (setting, recipe) = (trainings::two_steps(19), Recipe::new(blueprint));
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
