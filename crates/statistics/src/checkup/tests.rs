//! Check-ups of simulated trainings: the correct ones are not accused, and every fault is found.

mod simulation;

use super::{CheckName, Outcome, check_up};
use crate::binomial;
use simulation::{Batches, Fault, Simulation};

fn simulation(fault: Fault) -> Simulation {
    Simulation { fault, ..Simulation::default() }
}

fn overall(tests: &[(CheckName, Outcome)]) -> f64 {
    let p_values: Vec<f64> = tests.iter().filter_map(|(_, outcome)| outcome.p_value).collect();
    p_values.iter().copied().fold(1.0, f64::min) * p_values.len() as f64
}

fn outcome(tests: &[(CheckName, Outcome)], name: CheckName) -> Outcome {
    tests.iter().find(|(found, _)| *found == name).unwrap().1
}

/// More p-values below a level than a binomial law allows at 1e-6 are a fault of the test.
fn assert_is_valid(p_values: &[f64], what: &str) {
    for level in [0.05, 0.01, 0.001] {
        let below = p_values.iter().filter(|p| **p < level).count() as f64;
        let chance = binomial::tails(below, p_values.len() as f64, level)[0];
        assert!(chance > 1e-6, "{what}: {below} of {} p-values are below {level}", p_values.len());
    }
}

/// A thousand check-ups of each kind of correct training. There are about a hundred assertions, at 1e-6 each.
#[test]
fn correct_trainings_are_accused_as_rarely_as_stated() {
    let kinds = [
        ("poisson", Batches::Poisson, 0.0),
        ("shuffle", Batches::Shuffle, 0.0),
        ("natural, poisson", Batches::Poisson, 0.3),
        ("natural, shuffle", Batches::Shuffle, 0.3),
    ];
    for (what, batches, bias) in kinds {
        let found: Vec<_> = (0..1000)
            .map(|seed| {
                let (runs, claim) =
                    Simulation { seed, batches, bias, runs: 2, ..Simulation::default() }.played();
                check_up(&runs, &claim)
            })
            .collect();
        for at in 0..found[0].len() {
            let p_values: Vec<f64> = found.iter().filter_map(|tests| tests[at].1.p_value).collect();
            assert_is_valid(&p_values, &format!("{what}, {}", misdeal_core::ClosedSet::name(found[0][at].0)));
        }
        assert_is_valid(&found.iter().map(|tests| overall(tests)).collect::<Vec<_>>(), what);
    }
}

/// Exact tests have uniform p-values: neither too small nor too large. Allowed is a deviation of the empirical
/// distribution that has probability 1e-6 (Dvoretzky, Kiefer, Wolfowitz, Massart).
#[test]
fn exact_tests_have_uniform_p_values() {
    let names = [CheckName::NoiseScale, CheckName::NoiseInEveryTensor, CheckName::FreshNoiseInRuns];
    let exact = names.into_iter().chain([CheckName::FixedNormalisation]);
    let simulated = |seed| Simulation { seed, runs: 2, tensors: 1, ..Simulation::default() };
    let found: Vec<_> = (0..2000)
        .map(|seed| {
            let (mut runs, claim) = simulated(seed).played();
            // One table of outputs only: two tables are joined by Bonferroni's rule, which is not exact.
            if seed % 2 == 0 {
                runs.iter_mut().for_each(simulation::without_coordinates);
            }
            check_up(&runs, &claim)
        })
        .collect();
    for name in exact {
        let in_one_table = |seed: &usize| name == CheckName::NoiseInEveryTensor || seed % 2 == 0;
        let of_tensors = |seed: &usize| name != CheckName::NoiseInEveryTensor || seed % 2 == 1;
        let seeds = (0..found.len()).filter(in_one_table).filter(of_tensors);
        let mut p_values: Vec<f64> = seeds.filter_map(|seed| outcome(&found[seed], name).p_value).collect();
        p_values.sort_by(f64::total_cmp);
        let count = p_values.len() as f64;
        assert!(count >= 1000.0);
        let allowed = (2e6_f64.ln() / (2.0 * count)).sqrt();
        for (rank, p) in p_values.iter().enumerate() {
            assert!((p - rank as f64 / count).abs() < allowed + 1.0 / count, "{name:?}: {p} has rank {rank}");
        }
    }
}

/// Every fault is found by its own test in one run (two for a constant seed), at p < 1e-6 in 20 of 20.
#[test]
fn every_fault_is_found_by_its_own_test() {
    let faults = [
        (Fault::NoiseTimes(0.5), CheckName::NoiseScale),
        (Fault::NoiseTimes(0.9), CheckName::NoiseScale),
        (Fault::ResponseTimes(10.0), CheckName::Clipping),
        (Fault::ResponseTimes(2.0), CheckName::Clipping),
        (Fault::ResponseTimes(2.0_f64.sqrt()), CheckName::Clipping),
        (Fault::ResponseTimes(0.0), CheckName::CanariesPlanted),
        (Fault::QuietSteps(5), CheckName::NoiseInEveryStep),
        (Fault::QuietSteps(5), CheckName::NoiseInEveryOutput),
        (Fault::SameNoise(1), CheckName::FreshNoiseInSteps),
        (Fault::SameNoise(7), CheckName::FreshNoiseInSteps),
        (Fault::SameNoiseEveryEpoch, CheckName::FreshNoiseInSteps),
        (Fault::SameNoiseEveryRun, CheckName::FreshNoiseInRuns),
        (Fault::SameNoiseInTensors, CheckName::FreshNoiseInTensors),
        (Fault::QuietTensor, CheckName::NoiseInEveryTensor),
        (Fault::QuietTensor, CheckName::NoiseInEveryOutput),
        (Fault::Shuffled, CheckName::BatchSizes),
        (Fault::Shuffled, CheckName::Appearances),
        (Fault::Truncated, CheckName::BatchSizes),
        (Fault::DividedByItsSize, CheckName::FixedNormalisation),
        (Fault::QuietSteps(5), CheckName::EqualNoise),
    ];
    for (fault, name) in faults {
        for seed in 0..20 {
            let runs = if fault == Fault::SameNoiseEveryRun { 2 } else { 1 };
            let (runs, claim) = Simulation { seed, runs, epochs: 8, ..simulation(fault) }.played();
            let p = outcome(&check_up(&runs, &claim), name).p_value.unwrap();
            assert!(p < 1e-6, "{fault:?}, seed {seed}: {name:?} has p = {p}");
        }
    }
}

/// What is left where natural gradients reach the outputs.
#[test]
fn most_faults_are_found_among_natural_gradients() {
    let faults = [
        (Fault::NoiseTimes(0.5), CheckName::NoiseScale),
        (Fault::ResponseTimes(10.0), CheckName::Clipping),
        (Fault::QuietSteps(5), CheckName::NoiseInEveryStep),
        (Fault::SameNoise(1), CheckName::FreshNoiseInSteps),
        (Fault::SameNoiseEveryEpoch, CheckName::FreshNoiseInSteps),
        (Fault::SameNoiseEveryRun, CheckName::FreshNoiseInRuns),
        (Fault::QuietTensor, CheckName::NoiseInEveryTensor),
    ];
    for (fault, name) in faults {
        for seed in 0..20 {
            let runs = if fault == Fault::SameNoiseEveryRun { 2 } else { 1 };
            let (runs, claim) = Simulation { seed, runs, bias: 0.2, ..simulation(fault) }.played();
            let p = outcome(&check_up(&runs, &claim), name).p_value.unwrap();
            assert!(p < 1e-6, "{fault:?}, seed {seed}: {name:?} has p = {p}");
        }
    }
}

#[test]
fn shuffles_that_are_not_uniform_are_found() {
    let faults = [
        (Fault::ShiftedOrder, CheckName::FreshShuffle),
        (Fault::ShuffledOnce, CheckName::FreshShuffle),
        (Fault::ReorderedBatches, CheckName::FreshShuffle),
        (Fault::FileOrder, CheckName::UniformShuffle),
        (Fault::SmallBuffer, CheckName::UniformShuffle),
        (Fault::PoissonInstead, CheckName::UniformShuffle),
    ];
    for (fault, name) in faults {
        for seed in 0..20 {
            let (runs, claim) = Simulation { seed, batches: Batches::Shuffle, ..simulation(fault) }.played();
            let p = outcome(&check_up(&runs, &claim), name).p_value.unwrap();
            assert!(p < 1e-6, "{fault:?}, seed {seed}: {name:?} has p = {p}");
        }
    }
}

/// Twice the noise costs accuracy and no privacy: no test that concerns privacy may see it.
#[test]
fn too_much_noise_is_no_fault() {
    let p_values: Vec<f64> = (0..300)
        .map(|seed| {
            let (runs, claim) = Simulation { seed, ..simulation(Fault::NoiseTimes(2.0)) }.played();
            overall(&check_up(&runs, &claim))
        })
        .collect();
    assert_is_valid(&p_values, "twice the noise");
}

/// The number of outputs that the tests need is as designed: 48 outputs for half the noise, 2,048 for 10 % less.
#[test]
fn the_scale_of_the_noise_needs_few_outputs() {
    for (factor, canaries, steps) in [(0.5, 48, 1), (0.9, 64, 32), (0.95, 64, 128)] {
        let found = (0..100).filter(|&seed| {
            let fault = Fault::NoiseTimes(factor);
            let (mut runs, claim) =
                Simulation { seed, canaries, steps_per_epoch: steps, epochs: 1, ..simulation(fault) }
                    .played();
            runs.iter_mut().for_each(simulation::without_coordinates);
            outcome(&check_up(&runs, &claim), CheckName::NoiseScale).p_value.unwrap() < 1e-6
        });
        // A test of power 0.95 finds fewer than 84 of 100 with probability 1e-5; fewer than 80 with 1e-7.
        assert!(found.count() >= 80, "{factor}");
    }
}

/// With one canary a fair coin decides in which run of a pair it is present; the second run's coin is no news.
#[test]
fn paired_coins_are_one_bet() {
    let simulated = |seed, fault| {
        let (mut runs, mut claim) = Simulation {
            seed,
            fault,
            bias: 0.2,
            runs: 60,
            canaries: 1,
            steps_per_epoch: 4,
            epochs: 1,
            batch_size: 10,
            ..Simulation::default()
        }
        .played();
        // The simulation's second run of a pair takes the first one's opposite coin: what was planted changes with it.
        for pair in runs.chunks_exact_mut(2) {
            let coin = !pair[0].coins[0];
            let (old, new) = (f64::from(u8::from(pair[1].coins[0])), f64::from(u8::from(coin)));
            let response = if let Fault::ResponseTimes(factor) = fault { factor } else { 1.0 };
            for place in (0..pair[1].placed.len()).filter(|place| pair[1].placed[*place]).collect::<Vec<_>>()
            {
                pair[1].planted[place] += new - old;
                pair[1].outputs[place] += response * (new - old);
            }
            pair[1].coins[0] = coin;
        }
        claim.paired_coins = true;
        outcome(&check_up(&runs, &claim), CheckName::Clipping).p_value.unwrap()
    };
    assert_is_valid(
        &(0..1000).map(|seed| simulated(seed, Fault::Nothing)).collect::<Vec<_>>(),
        "paired coins",
    );
    assert!((0..20).all(|seed| simulated(seed, Fault::ResponseTimes(10.0)) < 1e-3));
}

#[test]
fn records_that_do_not_fit_are_refused_by_field() {
    let (runs, _) = Simulation::default().played();
    let mut run = runs[0].clone();
    assert_eq!(run.check(), Ok(()));
    run.outputs[3] = f64::NAN;
    assert_eq!(run.check().unwrap_err().0, "outputs");
    run.outputs.pop();
    assert_eq!(run.check().unwrap_err().0, "outputs");
    let mut run = runs[0].clone();
    run.noise_multipliers[0] = 0.0;
    assert_eq!(run.check().unwrap_err().0, "noise_multipliers");
    run.batch_sizes.clear();
    assert_eq!(run.check().unwrap_err().0, "batch_sizes");
}
