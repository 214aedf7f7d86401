//! What theory says about the scores' law: the worst case through real training is the mechanism, and so is a partially informed
//! audit whose canary has no bias.
//!
//! Every comparison is a two-sample Kolmogorov-Smirnov test at level 1e-8: false-alarm rate below 1e-6 in all.

use misdeal_core::{
    BatchScheme, Blueprint, CanaryKind, EngineName, Independence, Recipe, Setting, ThreatModel, World,
};
use misdeal_game::{Game, engines};
use misdeal_testkit::tiny;
use misdeal_train::data::Shape;
use misdeal_train::{MeasuredTrials, TrainingPlan, TrialBatch};
use std::sync::Arc;

const TRIALS: u64 = 5_000;

/// The largest distance between two empirical distribution functions.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let sorted = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values
    };
    let (a, b) = (sorted(a), sorted(b));
    let below =
        |values: &[f64], x: f64| values.partition_point(|&value| value <= x) as f64 / values.len() as f64;
    a.iter().chain(&b).map(|&x| (below(&a, x) - below(&b, x)).abs()).fold(0.0, f64::max)
}

/// P(distance > limit) <= 2 exp(-2 limit^2 n m / (n + m)) = 1e-8.
fn limit(n: usize, m: usize) -> f64 {
    let (n, m) = (n as f64, m as f64);
    ((2e8_f64.ln() / 2.0) * (n + m) / (n * m)).sqrt()
}

fn same_law(a: &[f64], b: &[f64], what: &str) {
    let distance = distance(a, b);
    assert!(distance < limit(a.len(), b.len()), "{what}: {distance}");
}

fn mechanism(setting: &Setting) -> [Vec<f64>; 2] {
    let game = Game::new(&Setting { seed: 99, training: None, ..setting.clone() });
    let engine = engines::choose(&game, EngineName::Reference).unwrap();
    World::BOTH.map(|world| {
        let mut scores = vec![0.0; 2 * TRIALS as usize];
        engine.score(world, 0..2 * TRIALS, &mut scores);
        scores
    })
}

fn train(setting: &Setting, recipe: &Recipe) -> TrialBatch {
    let plan = tiny::plan(setting, recipe).with_measured_trials(MeasuredTrials::None);
    plan.score(0..TRIALS, &|| false, &|| ()).unwrap()
}

#[test]
fn the_worst_case_through_training_is_the_mechanism() {
    for scheme in tiny::schemes() {
        let setting = Setting { scheme, threat_model: ThreatModel::WorstCase, ..tiny::setting() };
        let batch = train(&setting, &tiny::recipe(tiny::PERCEPTRON, CanaryKind::Random));
        let [scores_in, scores_out] = mechanism(&setting);
        same_law(&batch.scores_in, &scores_in, &format!("{scheme} In"));
        same_law(&batch.scores_out, &scores_out, &format!("{scheme} Out"));
        if setting.noise_multiplier < 1.0 {
            let apart = distance(&batch.scores_in, &batch.scores_out);
            assert!(
                apart > limit(TRIALS as usize, TRIALS as usize),
                "the test can tell the worlds apart: {apart}"
            );
        }
    }
}

#[test]
fn without_bias_a_partially_informed_audit_is_the_mechanism() {
    for scheme in
        [BatchScheme::Shuffle, BatchScheme::ShuffleOnce, BatchScheme::StreamShuffle { buffer_size: 11 }]
    {
        let setting = Setting { scheme, threat_model: ThreatModel::PartiallyInformed, ..tiny::setting() };
        let batch = train(&setting, &tiny::recipe(tiny::PERCEPTRON, CanaryKind::NullSpace));
        let [scores_in, scores_out] = mechanism(&setting);
        same_law(&batch.scores_in, &scores_in, &format!("{scheme} In"));
        same_law(&batch.scores_out, &scores_out, &format!("{scheme} Out"));
        let bias = batch.utility.bias().unwrap();
        assert!(bias.mean.abs() < 1e-6 && bias.standard_deviation < 1e-6, "{bias:?}");
    }
}

/// The paper's perceptron at batches of a thousand, where audits with a random canary go slack: 32 null-space canaries a model.
#[test]
fn without_bias_large_batches_hide_nothing() {
    let setting = Setting {
        noise_multiplier: 0.85,
        steps_per_epoch: 10,
        batch_size: 1000,
        threat_model: ThreatModel::PartiallyInformed,
        ..Setting::default()
    };
    let mlp = Recipe::new(Blueprint::named("mlp").unwrap());
    let data = tiny::noise(Shape::flat(600), 100, 10_000);
    let scores = |recipe: &Recipe, trials: u64| {
        let plan = TrainingPlan::new(&setting, recipe, Arc::clone(&data))
            .unwrap()
            .with_measured_trials(MeasuredTrials::None);
        plan.score(0..trials, &|| false, &|| ()).unwrap()
    };
    let found = scores(&Recipe { canary: CanaryKind::NullSpace, canaries: 32, ..mlp.clone() }, 100);
    let [scores_in, scores_out] = mechanism(&setting);
    same_law(&found.scores_in, &scores_in, "In");
    same_law(&found.scores_out, &scores_out, "Out");
    let spread = |recipe: &Recipe| scores(recipe, 3).utility.bias().unwrap().standard_deviation;
    assert!(found.utility.bias().unwrap().standard_deviation < 1e-5);
    assert!(spread(&mlp) > 0.05, "a random canary has a bias there: {}", spread(&mlp));
}

/// Every natural gradient, at parameters that training has moved, clipped or not.
#[test]
fn natural_gradients_are_orthogonal_to_the_null_space() {
    for model in [tiny::PERCEPTRON, tiny::CONVOLUTIONS] {
        let setting = Setting { threat_model: ThreatModel::TargetCanary, ..tiny::setting() };
        let largest = |canary, canaries| {
            let plan = tiny::plan(&setting, &Recipe { canaries, ..tiny::recipe(model, canary) });
            let exact = misdeal_train::reference::train(&plan, World::In, 0);
            let ours = plan.train(&mut plan.workspace(), World::In, 0, &|| false).unwrap().outputs;
            let largest =
                |biases: &[Vec<f64>]| biases.iter().flatten().map(|bias| bias.abs()).fold(0.0, f64::max);
            (largest(&exact.biases), largest(&ours.biases))
        };
        let (exact, ours) = largest(CanaryKind::NullSpace, 4);
        assert!(exact < 1e-15 && ours < 1e-6, "{exact} {ours}");
        let (exact, ours) = largest(CanaryKind::Dirac, 1);
        assert!(exact > 0.01 && ours > 0.01, "a canary elsewhere has a bias: {exact} {ours}");
    }
}

/// The scores of both models of each trial, and their coins.
fn by_model(plan: &TrainingPlan, batch: &TrialBatch) -> Vec<(Vec<bool>, Vec<f64>)> {
    let canaries = plan.recipe().canaries;
    let mut models = vec![];
    for trial in 0..batch.scores_in.len() / canaries {
        for world in World::BOTH {
            let coins = plan.coins(world, trial as u64);
            let score = |k: usize| {
                let scores = if coins[k] { &batch.scores_in } else { &batch.scores_out };
                scores[trial * canaries + k]
            };
            let scores = (0..canaries).map(score).collect();
            models.push((coins, scores));
        }
    }
    models
}

/// Three targets a training, with a coin each: scores have the mechanism's law. Pairs of scores of one model fall on either side
/// of their worlds' medians independently, whether their coins agree or not (binomial deviates with a limit of 5.5).
#[test]
fn several_canaries_are_independent_audits() {
    use Independence::{Follow, Memberships, SymmetricScores};
    use ThreatModel::{PartiallyInformed, TargetCanary, WorstCase};
    for (threat_model, scheme, canary, independence) in [
        (PartiallyInformed, BatchScheme::Shuffle, CanaryKind::NullSpace, Follow),
        (WorstCase, BatchScheme::ShuffleOnce, CanaryKind::Dirac, Follow),
        (WorstCase, BatchScheme::Shuffle, CanaryKind::Random, Follow),
        (PartiallyInformed, BatchScheme::WithoutReplacement, CanaryKind::NullSpace, Follow),
        (PartiallyInformed, BatchScheme::Poisson, CanaryKind::NullSpace, Memberships),
        (WorstCase, BatchScheme::BallsInBins, CanaryKind::Dirac, Memberships),
        (TargetCanary, BatchScheme::Shuffle, CanaryKind::NullSpace, SymmetricScores),
        (PartiallyInformed, BatchScheme::BatchThenShuffle, CanaryKind::NullSpace, SymmetricScores),
    ] {
        let setting = Setting { threat_model, scheme, epochs: 1, ..tiny::setting() };
        let recipe = Recipe { canaries: 3, ..tiny::recipe(tiny::PERCEPTRON, canary) };
        let plan = tiny::plan(&setting, &recipe).with_measured_trials(MeasuredTrials::None);
        assert_eq!(plan.independence(), Some(independence), "{threat_model} {scheme}");
        let batch = plan.score(0..TRIALS, &|| false, &|| ()).unwrap();
        let [scores_in, scores_out] = mechanism(&setting);
        for k in 0..3 {
            let of = |scores: &[f64]| -> Vec<f64> { scores.iter().skip(k).step_by(3).copied().collect() };
            same_law(&of(&batch.scores_in), &scores_in, &format!("{threat_model} {scheme} canary {k} In"));
            same_law(&of(&batch.scores_out), &scores_out, &format!("{threat_model} {scheme} canary {k} Out"));
        }
        let median = |scores: &[f64]| {
            let mut sorted = scores.to_vec();
            sorted.sort_by(f64::total_cmp);
            sorted[sorted.len() / 2]
        };
        let medians = [median(&batch.scores_out), median(&batch.scores_in)];
        let models = by_model(&plan, &batch);
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            for agree in [true, false] {
                let same: Vec<bool> = models
                    .iter()
                    .filter(|(coins, _)| (coins[a] == coins[b]) == agree)
                    .map(|(coins, scores)| {
                        let is_high = |k: usize| scores[k] >= medians[usize::from(coins[k])];
                        is_high(a) == is_high(b)
                    })
                    .collect();
                let count = same.iter().filter(|&&same| same).count() as f64;
                let deviate = (count - same.len() as f64 / 2.0) / (same.len() as f64 / 4.0).sqrt();
                assert!(deviate.abs() < 5.5, "{threat_model} {scheme} canaries {a} and {b}: {deviate}");
            }
        }
    }
}

/// Without a proof nothing is independent: natural gradients, another belief, and places that are not uniform.
#[test]
fn what_is_not_proven_is_not_independent() {
    let setting = Setting { threat_model: ThreatModel::PartiallyInformed, ..tiny::setting() };
    let recipe = Recipe { canaries: 3, ..tiny::recipe(tiny::PERCEPTRON, CanaryKind::NullSpace) };
    let stream = BatchScheme::StreamShuffle { buffer_size: 11 };
    let squared = Blueprint { loss: misdeal_core::Loss::SquaredError, ..recipe.model.clone() };
    for (setting, recipe) in [
        (setting.clone(), Recipe { canary: CanaryKind::Random, ..recipe.clone() }),
        (setting.clone(), Recipe { canary: CanaryKind::Dirac, ..recipe.clone() }),
        (setting.clone(), Recipe { debias: true, ..recipe.clone() }),
        (setting.clone(), Recipe { model: squared, ..recipe.clone() }),
        (Setting { scheme: stream, ..setting.clone() }, recipe.clone()),
        // Targets 22 and 23 are in a buffer of three batches, target 24 in one of two.
        (
            Setting {
                scheme: BatchScheme::PartialShuffle { buffer_size: 24 },
                target_index: 22,
                ..setting.clone()
            },
            recipe.clone(),
        ),
        (Setting { adversary_scheme: Some(BatchScheme::Poisson), ..setting }, recipe),
    ] {
        let plan = tiny::plan(&setting, &recipe);
        assert_eq!(plan.independence(), None, "{:?} {:?}", plan.setting(), plan.recipe());
    }
}

/// Places of eight canaries among sixteen records in two batches, read off nearly noiseless outputs: pairs share a batch in half
/// of the models, where the shuffle alone puts them together in 7 of 15. Also, each coin is seen in the outputs.
#[test]
fn places_of_canaries_in_a_model_are_independent() {
    let setting = Setting {
        steps_per_epoch: 2,
        batch_size: 8,
        epochs: 1,
        noise_multiplier: 0.05,
        target_index: 3,
        threat_model: ThreatModel::WorstCase,
        ..Setting::default()
    };
    let recipe = Recipe { canaries: 8, ..tiny::recipe(tiny::PERCEPTRON, CanaryKind::Dirac) };
    let plan = tiny::plan(&setting, &recipe).with_measured_trials(MeasuredTrials::None);
    let mut workspace = plan.workspace();
    let (mut together, mut pairs) = (0.0_f64, 0.0_f64);
    for (trial, world) in (0..TRIALS).flat_map(|trial| World::BOTH.map(|world| (trial, world))) {
        let outputs = plan.train(&mut workspace, world, trial, &|| false).unwrap().outputs.projections;
        let places: Vec<usize> = outputs.iter().map(|steps| usize::from(steps[1] > steps[0])).collect();
        for ((steps, &place), coin) in outputs.iter().zip(&places).zip(plan.coins(world, trial)) {
            assert!(
                (steps[place] - f64::from(u8::from(coin))).abs() < 0.5
                    && (steps[1 - place] + 1.0).abs() < 0.5
            );
        }
        for k in 0..4 {
            together += f64::from(u8::from(places[2 * k] == places[2 * k + 1]));
            pairs += 1.0;
        }
    }
    let deviate = |share: f64| (together - share * pairs) / (pairs * share * (1.0 - share)).sqrt();
    assert!(deviate(0.5).abs() < 5.5, "{}", deviate(0.5));
    assert!(deviate(7.0 / 15.0) > 6.0, "the test sees the difference: {}", deviate(7.0 / 15.0));
}

/// Share of pairs (In, Out) that the scores put in the right order.
fn ordered(batch: &TrialBatch) -> f64 {
    let mut out = batch.scores_out.clone();
    out.sort_by(f64::total_cmp);
    let below: usize = batch.scores_in.iter().map(|&score| out.partition_point(|&other| other < score)).sum();
    below as f64 / (out.len() * batch.scores_in.len()) as f64
}

/// A canary on one output's bias meets much bias while the model has learned little: an adversary that models it sees more.
/// The shares' standard errors are about 0.006.
#[test]
fn debiasing_helps_where_there_is_bias() {
    let setting = Setting { threat_model: ThreatModel::PartiallyInformed, batch_size: 40, ..tiny::setting() };
    let recipe = Recipe { learning_rate: 0.01, ..tiny::recipe(tiny::PERCEPTRON, CanaryKind::Dirac) };
    let [plain, debiased] = [false, true].map(|debias| {
        let plan = tiny::plan(&setting, &Recipe { debias, ..recipe.clone() })
            .with_measured_trials(MeasuredTrials::None);
        plan.score(0..2000, &|| false, &|| ()).unwrap()
    });
    assert!(ordered(&debiased) > ordered(&plain) + 0.03, "{} {}", ordered(&debiased), ordered(&plain));
    let bias = plain.utility.bias().unwrap();
    assert!(bias.standard_deviation > 0.5, "{bias:?}");
}

#[test]
fn models_learn_unless_every_gradient_is_planted() {
    let accuracies = |threat_model| {
        let setting = Setting { threat_model, batch_size: 24, epochs: 10, ..tiny::setting() };
        let plan = tiny::plan(&setting, &tiny::recipe(tiny::PERCEPTRON, CanaryKind::NullSpace));
        let utility = plan.score(0..20, &|| false, &|| ()).unwrap().utility;
        (utility.train_accuracy().unwrap(), utility.test_accuracy().unwrap())
    };
    let (train, test) = accuracies(ThreatModel::PartiallyInformed);
    assert!(train.mean > 0.6 && test.mean > 0.55 && train.standard_deviation > 0.0, "{train:?} {test:?}");
    let (train, _) = accuracies(ThreatModel::WorstCase);
    assert!(train.mean < 0.5, "{train:?}");
}

/// A loss without an exact null space: the least-variance direction has less bias than a single coordinate's.
#[test]
fn other_losses_have_a_quiet_direction() {
    let setting = Setting { threat_model: ThreatModel::TargetCanary, ..tiny::setting() };
    let spread = |canary| {
        let base = tiny::recipe(tiny::PERCEPTRON, canary);
        let model = Blueprint { loss: misdeal_core::Loss::SquaredError, ..base.model.clone() };
        let plan = tiny::plan(&setting, &Recipe { model, learning_rate: 0.1, ..base });
        plan.score(0..100, &|| false, &|| ()).unwrap().utility.bias().unwrap().standard_deviation
    };
    let (quiet, loud) = (spread(CanaryKind::NullSpace), spread(CanaryKind::Dirac));
    assert!(quiet < loud, "{quiet} {loud}");
}
