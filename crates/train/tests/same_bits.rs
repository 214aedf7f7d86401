//! A trial is a pure function of seed, setting, world and index.

use misdeal_core::{CanaryKind, Recipe, Setting, ThreatModel};
use misdeal_testkit::tiny;
use misdeal_train::{InstructionSet, TrainingPlan, TrialBatch};
use std::sync::atomic::{AtomicU64, Ordering};

fn play(plan: &TrainingPlan, threads: usize, split: &[u64]) -> TrialBatch {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut whole = TrialBatch::default();
    for ends in split.windows(2) {
        let part = pool.install(|| plan.score(ends[0]..ends[1], &|| false, &|| ())).unwrap();
        whole.scores_in.extend(part.scores_in);
        whole.scores_out.extend(part.scores_out);
        whole.utility.merge(&part.utility);
    }
    whole
}

fn plans() -> Vec<TrainingPlan> {
    let setting = Setting { threat_model: ThreatModel::PartiallyInformed, ..tiny::setting() };
    [tiny::PERCEPTRON, tiny::CONVOLUTIONS]
        .map(|model| {
            let recipe = Recipe { canaries: 2, debias: true, ..tiny::recipe(model, CanaryKind::Random) };
            tiny::plan(&setting, &recipe)
        })
        .into()
}

#[test]
fn threads_and_splits_do_not_show() {
    for plan in plans() {
        let base = play(&plan, 1, &[0, 13]);
        assert_eq!(base.scores_in.len(), 26);
        assert_eq!(play(&plan, 1, &[0, 13]), base);
        assert_eq!(play(&plan, 3, &[0, 13]), base);
        assert_eq!(play(&plan, 2, &[0, 1, 6, 13]), base);
        let later = play(&plan, 2, &[4, 9]);
        assert_eq!(later.scores_out, base.scores_out[8..18]);
    }
}

#[test]
fn instruction_sets_do_not_show() {
    for plan in plans() {
        let base = play(&plan.clone().with_instruction_set(InstructionSet::fastest()), 1, &[0, 3]);
        for set in InstructionSet::available() {
            assert_eq!(play(&plan.clone().with_instruction_set(set), 1, &[0, 3]), base, "{set:?}");
        }
    }
}

#[test]
fn seeds_worlds_trials_and_recipes_do() {
    let plan = &plans()[0];
    let base = play(plan, 1, &[0, 3]);
    assert_ne!(base.scores_in, base.scores_out);
    assert_ne!(base.scores_in[..2], base.scores_in[2..4]);
    let other_seed = tiny::plan(&Setting { seed: 1, ..plan.setting().clone() }, plan.recipe());
    let other_rate = tiny::plan(plan.setting(), &Recipe { learning_rate: 0.25, ..plan.recipe().clone() });
    for other in [other_seed, other_rate] {
        assert_ne!(other.setting().hash(), plan.setting().hash());
        assert_ne!(play(&other, 1, &[0, 3]).scores_in, base.scores_in);
    }
}

#[test]
fn progress_is_told_and_cancellation_heeded() {
    let plan = &plans()[0];
    let count = AtomicU64::new(0);
    let trained = || {
        count.fetch_add(1, Ordering::Relaxed);
    };
    assert!(plan.score(0..5, &|| false, &trained).is_some());
    assert_eq!(count.load(Ordering::Relaxed), 10);
    assert!(plan.score(0..1000, &|| count.load(Ordering::Relaxed) > 20, &trained).is_none());
    assert!(count.load(Ordering::Relaxed) < 100);
}
