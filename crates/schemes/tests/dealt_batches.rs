//! Batches that are dealt follow the law of their scheme: single records, pairs, epochs and sizes.
//!
//! The laws are those of the samplers that `law_and_sampler` tests, and the comparison is the same.

use crate::law_and_sampler::{FALSE_ALARM_RATE, bits_of, log_p_of_counts, probability};
use misdeal_core::{BatchScheme, Setting, Stream, World};
use misdeal_schemes::deal::{Plan, Seed, of_rank};
use misdeal_schemes::{PositionLaw, Weights, sampler};

/// An upper bound on the comparisons of this file.
const MOST_COMPARISONS: f64 = 200.0;

const TRIALS: u64 = 20_000;

const SCHEMES: [BatchScheme; 2] = [BatchScheme::Poisson, BatchScheme::BallsInBins];

fn plan(scheme: BatchScheme, dataset_size: u64, batch_size: u64, epochs: u64, seed: u64) -> Plan {
    Plan::new(scheme, dataset_size, batch_size, epochs, &Seed::from_number(seed)).expect("a valid plan")
}

/// The law of one record: Poisson sampling has the rate B/n also where B does not divide n.
fn law(plan: &Plan) -> PositionLaw {
    match plan.scheme() {
        BatchScheme::Poisson => PositionLaw::EachStep { probability: plan.sampling_probability() },
        _ => PositionLaw::OnceAnEpoch(Weights::Uniform(0..plan.steps_per_epoch())),
    }
}

/// The batches of one epoch.
fn epoch(plan: &Plan, epoch: u64) -> Vec<Vec<u64>> {
    let steps = plan.steps_per_epoch();
    (epoch * steps..(epoch + 1) * steps).map(|step| plan.batch(step)).collect()
}

fn bits(batches: &[Vec<u64>], record: u64) -> usize {
    bits_of(batches.iter().map(Vec::as_slice), record)
}

fn agrees(counts: &[u64], probability: impl Fn(usize) -> f64) -> bool {
    log_p_of_counts(counts, probability) > (FALSE_ALARM_RATE / MOST_COMPARISONS).ln()
}

/// What each record did in two epochs, over many seeds: the law of each epoch, and their independence.
#[test]
fn every_record_follows_the_law_in_two_epochs() {
    for scheme in SCHEMES {
        for (dataset_size, batch_size) in [(12, 3), (13, 3), (8, 4), (5, 1)] {
            let law = law(&plan(scheme, dataset_size, batch_size, 2, 0));
            let steps = (dataset_size / batch_size) as usize;
            let mut counts = vec![vec![0; 1 << (2 * steps)]; dataset_size as usize];
            for seed in 0..TRIALS {
                let plan = plan(scheme, dataset_size, batch_size, 2, seed);
                let [first, second] = [epoch(&plan, 0), epoch(&plan, 1)];
                for (record, counts) in (0..).zip(&mut counts) {
                    counts[bits(&first, record) | bits(&second, record) << steps] += 1;
                }
            }
            for counts in counts {
                let law = |outcome| probability(&law, steps, outcome);
                assert!(agrees(&counts, law), "{} {dataset_size} {batch_size}: {counts:?}", scheme.name());
            }
        }
    }
}

/// Two records behave in one epoch as one record does in two, and neither scheme passes for the other.
#[test]
fn pairs_of_records_are_independent() {
    for scheme in SCHEMES {
        for pair in [[4, 5], [0, 11]] {
            let mut counts = vec![0; 1 << 8];
            for seed in 0..TRIALS {
                let batches = epoch(&plan(scheme, 12, 3, 1, seed), 0);
                counts[bits(&batches, pair[0]) | bits(&batches, pair[1]) << 4] += 1;
            }
            let of = |scheme| law(&plan(scheme, 12, 3, 1, 0));
            for believed in SCHEMES {
                let law = |outcome| probability(&of(believed), 4, outcome);
                assert_eq!(agrees(&counts, law), believed == scheme, "{} {pair:?}", scheme.name());
            }
        }
    }
}

/// Whole epochs of four records in two batches: every assignment is as likely as its law says, all records together.
#[test]
fn whole_epochs_follow_the_law() {
    for scheme in SCHEMES {
        let mut counts = vec![0; 1 << 8];
        for seed in 0..TRIALS {
            let batches = epoch(&plan(scheme, 4, 2, 1, seed), 0);
            counts[(0..4).map(|record| bits(&batches, record) << (2 * record)).sum::<usize>()] += 1;
        }
        let joint = match scheme {
            BatchScheme::Poisson => joint_of_steps,
            _ => joint_of_bins,
        };
        assert!(agrees(&counts, joint), "{}: {counts:?}", scheme.name());
    }
}

/// Four records in two steps with probability 1/2 each: every one of 2^8 outcomes alike.
fn joint_of_steps(_: usize) -> f64 {
    1.0 / 256.0
}

/// Four records in one of two bins each: 2^4 outcomes alike.
fn joint_of_bins(outcome: usize) -> f64 {
    let once = (0..4).all(|record| (outcome >> (2 * record) & 3).is_power_of_two());
    if once { 1.0 / 16.0 } else { 0.0 }
}

/// Batch sizes beside those of the samplers that training uses: two samples of one law, by the relative entropy of each to the binomial law.
#[test]
fn sizes_are_those_of_the_samplers() {
    for (scheme, known) in
        [(BatchScheme::Poisson, BatchScheme::Poisson), (BatchScheme::BallsInBins, BatchScheme::BallsInBins)]
    {
        let setting = Setting { scheme: known, steps_per_epoch: 5, batch_size: 4, ..Setting::default() };
        let setting = setting.validated().expect("a valid setting");
        let stream = Stream::new(&setting.hash());
        let [mut ours, mut theirs] = [vec![0; 21], vec![0; 21]];
        for trial in 0..TRIALS {
            ours[plan(scheme, 20, 4, 1, trial).batch(3).len()] += 1;
            theirs[sampler(&setting, &stream, World::In, trial).next_epoch()[3].len()] += 1;
        }
        let mut mass = 0.8_f64.powi(20);
        let mut masses = vec![mass];
        for k in 0..20_u32 {
            mass *= f64::from(20 - k) / f64::from(k + 1) * 0.25;
            masses.push(mass);
        }
        for counts in [ours, theirs] {
            assert!(agrees(&counts, |size| masses[size]), "{}: {counts:?}", scheme.name());
        }
    }
}

/// Above 2^16 records orders are networks. One record in two epochs, and two records in one.
#[test]
fn large_data_sets_follow_the_law() {
    let (n, steps) = (90_001, 3);
    let of = |seed| plan(BatchScheme::BallsInBins, n, n / steps, 2, seed);
    let law = law(&of(0));
    let mut counts = vec![vec![0; 1 << (2 * steps)]; 3];
    for seed in 0..TRIALS {
        let plan = of(seed);
        let [first, second] = [plan.epoch(0), plan.epoch(1)];
        for (counts, pair) in counts.iter_mut().zip([
            [first.step_of(7), second.step_of(7)],
            [first.step_of(n - 1), second.step_of(n - 1)],
            [first.step_of(7), first.step_of(8)],
        ]) {
            counts[1 << pair[0] | 1 << (steps + pair[1])] += 1;
        }
    }
    for counts in counts {
        assert!(agrees(&counts, |outcome| probability(&law, steps as usize, outcome)), "{counts:?}");
    }
}

/// Any batch alone, all in order, a pass over the records and the step of a record say the same.
#[test]
fn every_way_to_ask_gives_the_same_batches() {
    for scheme in SCHEMES {
        for (dataset_size, batch_size) in [(1, 1), (10, 10), (10, 1), (1000, 7), (70_000, 9000)] {
            let plan = plan(scheme, dataset_size, batch_size, 3, 1);
            let mut all = vec![];
            plan.visit(0..plan.steps(), |step, batch| {
                assert_eq!(step, all.len() as u64);
                all.push(batch.to_vec());
            });
            for step in [0, plan.steps() / 2, plan.steps() - 1, 0] {
                assert_eq!(plan.batch(step), all[step as usize]);
            }
            for epoch in 0..3 {
                let mut dealt = vec![vec![]; plan.steps() as usize];
                let mut pass = plan.pass(epoch);
                let mut record = 0;
                while let Some(steps) = pass.next_steps() {
                    for &step in steps {
                        dealt[step as usize].push(record);
                    }
                    record += 1;
                }
                assert_eq!(record, dataset_size);
                let first = epoch * plan.steps_per_epoch();
                for step in first..first + plan.steps_per_epoch() {
                    let mut sorted = all[step as usize].clone();
                    sorted.sort_unstable();
                    assert_eq!(dealt[step as usize], sorted, "{} step {step}", scheme.name());
                }
            }
        }
    }
}

#[test]
fn longer_plans_begin_with_the_same_batches_and_seeds_differ() {
    for scheme in SCHEMES {
        let [short, long, other] =
            [(2, 1), (5, 1), (2, 2)].map(|(epochs, seed)| plan(scheme, 1000, 10, epochs, seed));
        assert!((0..short.steps()).all(|step| short.batch(step) == long.batch(step)));
        assert!((0..short.steps()).any(|step| short.batch(step) != other.batch(step)));
        assert_ne!(short.batch(0), short.batch(100), "epochs differ");
    }
}

#[test]
fn ranks_share_each_batch() {
    let plan = plan(BatchScheme::BallsInBins, 100, 3, 1, 1);
    for step in 0..plan.steps() {
        let batch = plan.batch(step);
        let parts: Vec<Vec<u64>> = (0..4).map(|rank| of_rank(&batch, rank, 4).collect()).collect();
        assert!(
            parts.iter().all(|part| part.len() == batch.len() / 4 || part.len() == batch.len().div_ceil(4))
        );
        let mut all = parts.concat();
        let mut batch = batch;
        all.sort_unstable();
        batch.sort_unstable();
        assert_eq!(all, batch);
    }
}

/// Regression test: a release that changes the batches of a seed must say so.
#[test]
fn batches_of_a_seed_never_change() {
    let of = |scheme, n, b| plan(scheme, n, b, 1, 0).batch(1).into_iter().take(4).collect::<Vec<_>>();
    let found = [
        of(BatchScheme::Poisson, 1000, 100),
        of(BatchScheme::BallsInBins, 1000, 100),
        of(BatchScheme::BallsInBins, 1_000_000_000_000, 1024),
    ];
    let expected =
        "[[7, 9, 17, 31], [834, 96, 290, 56], [303825882804, 202711799891, 549285596374, 510493879637]]";
    assert_eq!(format!("{found:?}"), expected);
}

#[test]
fn bad_sizes_are_refused_by_name() {
    let refused = |n, b, epochs| {
        Plan::new(BatchScheme::Poisson, n, b, epochs, &Seed::from_number(0)).unwrap_err().to_string()
    };
    assert!(refused(0, 1, 1).starts_with("dataset_size is 0"));
    assert!(refused(10, 0, 1).starts_with("batch_size is 0"));
    assert!(refused(10, 11, 1).starts_with("batch_size is 11"));
    assert!(refused(10, 1, 0).starts_with("epochs is 0"));
    assert!(refused(1 << 51, 1, 1).starts_with("dataset_size is"));
    assert!(refused(1 << 50, 1, 1).starts_with("batch_size is 1"));
}

#[test]
fn seeds_are_not_printed() {
    assert_eq!(format!("{:?}", Seed::new([7; 32])), "Seed(secret)");
    assert!(!format!("{:?}", plan(BatchScheme::Poisson, 10, 1, 1, 0)).contains('['));
}
